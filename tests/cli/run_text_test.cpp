#include "report/text_format.hpp"

#include "tests/cli/command.hpp"
#include "tests/support/catch.hpp"

using namespace stepsim::test;

namespace {

void check_fits_screen(const std::string& text) {
  const auto lines = lines_of(text);
  CHECK(lines.size() >= 24);
  CHECK(lines.size() <= 40);
  for (const std::string& line : lines) {
    CAPTURE(line);
    CHECK(stepsim::report::display_width(line) <= 100);
  }
}

bool is_ascii(const std::string& text) {
  for (const char character : text) {
    if (static_cast<unsigned char>(character) >= 0x80) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("the summary of the main example fits one screen and says what matters") {
  const Outcome outcome = run_stepsim("run " + example);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err.empty());
  check_fits_screen(outcome.out);
  for (const char* part : {"stepsim 0.",
                           "llama3-70b",
                           "70.6 B parameters",
                           "64 × h100-sxm-80gb",
                           "8 × dgx-h100",
                           "fsdp2",
                           "shard 64",
                           "full-attention convention",
                           "peak 989 TFLOP/s",
                           "Step time",
                           "tps ",
                           "MFU",
                           "Clocks",
                           "compute",
                           "memory",
                           "communication",
                           "overhead",
                           "Time line",
                           "exposed",
                           "all_gather",
                           "reduce_scatter",
                           "Memory",
                           "of 79.15 GiB: fits"}) {
    CAPTURE(part);
    CHECK(contains(outcome.out, part));
  }
}

TEST_CASE("summaries of other plans fit one screen") {
  const std::string change =
      GENERATE("--set training.activation_checkpointing=none",
               "--set model=llama3-8b --set cluster.nodes=64 --set plan.shard=512 --set "
               "training.global_batch=512",
               "--set 'measured.step_time=10 s' --set 'measured.source=a run'");
  CAPTURE(change);
  check_fits_screen(run_stepsim("run " + example + " " + change).out);
}

TEST_CASE("blocks are drawn in a UTF-8 locale only") {
  CHECK(contains(run_stepsim("run " + example, "LC_ALL=C.UTF-8").out, "█"));
  const Outcome plain = run_stepsim("run " + example, "LC_ALL=C");
  CHECK(is_ascii(plain.out));
  CHECK(contains(plain.out, "####"));
}

TEST_CASE("no colours go to a file or a pipe") {
  CHECK_FALSE(contains(run_stepsim("run " + example, "TERM=xterm-256color").out, "\x1b"));
}

TEST_CASE("a measured step is compared with in words") {
  const Outcome outcome = run_stepsim("run " + example + " --set 'measured.step_time=1000 s'");
  CHECK(contains(outcome.out, "measured"));
  CHECK(contains(outcome.out, "% too fast"));
}

TEST_CASE("what nobody measured stands before the defaults of a file that leaves much open") {
  const Scratch scratch;
  const std::string file = scratch.write("bare.yaml",
                                         "model: llama3-8b\n"
                                         "cluster: { node: dgx-h100, nodes: 1 }\n"
                                         "plan: { strategy: fsdp2 }\n"
                                         "training: { sequence_length: 2048 }\n");
  const Outcome outcome = run_stepsim("run " + file);
  CHECK(outcome.exit_code == 0);
  const std::size_t unmeasured = outcome.out.find("times of attention");
  CHECK(unmeasured != std::string::npos);
  CHECK(unmeasured < outcome.out.find("is not given"));
}
