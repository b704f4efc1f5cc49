#include "tests/cli/command.hpp"
#include "tests/support/catch.hpp"

using namespace stepsim::test;

namespace {

const std::string log_file = "docs/samples/all_reduce_4_nodes.log";
const std::string compare = "calibrate compare --nccl-tests ";

}  // namespace

TEST_CASE("a slow log gets a verdict, ranked reasons and a row a size, and exits with 0") {
  const Outcome outcome = run_stepsim(compare + log_file + " --cluster dgx-h100 --nodes 4");
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err.empty());
  CHECK(contains(outcome.out, "32 GPUs on 4 of dgx-h100"));
  CHECK(contains(outcome.out, "Slower than expected: from 16 MiB up it reaches"));
  CHECK(contains(outcome.out, "  1. one network port of 8 is used"));
  CHECK(contains(outcome.out, "confirm:"));
  CHECK(contains(outcome.out, "17179869184"));
}

TEST_CASE("the same as JSON and CSV, and nodes are taken from the log where it lists hosts") {
  const auto json = stepsim_json(compare + log_file + " --cluster dgx-h100");
  CHECK(json.at("schema") == "stepsim.nccl_tests/1");
  CHECK(json.at("nodes") == 4);
  CHECK(json.at("verdict") == "slow");
  CHECK(json.at("suspects").at(0).at("key") == "one_port");
  CHECK(json.at("sizes").size() == 12);
  const Outcome csv = run_stepsim(compare + log_file + " --cluster dgx-h100 --format csv");
  CHECK(lines_of(csv.out).size() == 13);
}

TEST_CASE("a comparison that cannot be made says why and exits with 2") {
  const Scratch scratch;
  struct Bad {
    std::string arguments;
    const char* message;
  };
  const Bad all[] = {
      {log_file + " --cluster dgx-h10", "did you mean \"dgx-h100\"?"},
      {log_file + " --cluster dgx-h100 --nodes 2", "32 GPUs are not on 2 nodes of 8"},
      {log_file + " --cluster dgx-h100 --nodes 4 --gpus 16", "is of 32 ranks, not of 16"},
      {log_file + " --cluster dgx-h100 --nodes 0", "--nodes"},
      {log_file + " --cluster dgx-h100 --nccl two", "two"},
      {log_file + " --cluster dgx-h100 --collective all_gather", "bus bandwidths"},
      {scratch.path("none.log") + " --cluster dgx-h100", "none.log"},
      {scratch.write("empty.log", "") + " --cluster dgx-h100", "holds no measurement"}};
  for (const Bad& bad : all) {
    CAPTURE(bad.arguments);
    const Outcome outcome = run_stepsim(compare + bad.arguments);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out.empty());
    CHECK(contains(outcome.err, bad.message));
  }
}
