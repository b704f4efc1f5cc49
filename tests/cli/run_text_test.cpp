#include "report/text_format.hpp"

#include "tests/cli/command.hpp"
#include "tests/support/catch.hpp"

using namespace stepsim::test;

namespace {

void check_fits_screen(const std::string& text) {
  const auto lines = lines_of(text);
  CHECK(lines.size() >= 24);
  CHECK(lines.size() <= 46);
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
  const std::size_t unmeasured = outcome.out.find("kernels not measured");
  CHECK(unmeasured != std::string::npos);
  CHECK(unmeasured < outcome.out.find("not given: "));
}

namespace {

// Words between single spaces, however the text is cut into lines.
std::string in_one_line(const std::string& text) {
  std::string line;
  for (const char character : text) {
    const bool space = character == ' ' || character == '\n';
    if (!space || (!line.empty() && line.back() != ' ')) line += space ? ' ' : character;
  }
  return line;
}

}  // namespace

TEST_CASE("the text shows all assumptions, those of one topic together") {
  for (const std::string& file : example_scenarios()) {
    CAPTURE(file);
    for (const std::string verb : {"run ", "memory "}) {
      const std::string text = in_one_line(run_stepsim(verb + file).out);
      const nlohmann::ordered_json result = stepsim_json(verb + file);
      for (const auto& assumption : result.at("provenance").at("assumptions")) {
        const auto words = assumption.get<std::string>();
        CAPTURE(words);
        const std::size_t topic = words.find(": ");
        CHECK(contains(text, in_one_line(topic == words.npos ? words : words.substr(topic + 2))));
      }
      CHECK_FALSE(contains(text, "more, listed by"));
    }
  }
}

TEST_CASE("no line of text is wider than 100 columns") {
  std::vector<std::string> commands = {
      "clocks llama3-70b h100-sxm-80gb --tokens 8192 --tensor-parallel 8 --data-parallel 64",
      "clocks llama3.1-405b gb200 --decode 1000000,131071 --tensor-parallel 64 --cuda-graph",
      "clocks gpt2-124m a100-sxm-40gb --tokens 1024 --eager", "roofline b200-sxm-180gb"};
  for (const std::string& file : example_scenarios()) {
    for (const char* change :
         {"",
          " --set training.activation_checkpointing=none --set training.sequence_length=1024"}) {
      commands.push_back("run " + file + change);
      commands.push_back("memory " + file + change);
    }
  }
  for (const std::string& command : commands) {
    CAPTURE(command);
    for (const std::string& line : lines_of(run_stepsim(command).out)) {
      CAPTURE(line);
      CHECK(stepsim::report::display_width(line) <= 100);
    }
  }
}

TEST_CASE("each clock says what most of it is, as shares of the step") {
  const auto lines = lines_of(run_stepsim("run " + example).out);
  const auto row = [&](const std::string& clock) {
    for (const std::string& line : lines) {
      if (line.rfind("  " + clock + ' ', 0) == 0) return line;
    }
    return std::string();
  };
  CHECK(contains(row("compute"), "gemm "));
  CHECK(contains(row("communication"), "interference with shard"));
  CHECK_FALSE(contains(row("compute"), "dgrad"));
}
