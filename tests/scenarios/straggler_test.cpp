// A slow rank, or node, at every place of 64 GPUs: hybrid sharding, so that collectives inside
// nodes, over nodes and on shared network ports all occur.

#include "scenarios/simulate.hpp"

#include "tests/scenarios/scenario_text.hpp"
#include "tests/support/catch.hpp"

#include <string>

using namespace stepsim;
using namespace stepsim::scenarios;

namespace {

/// Eight nodes, sharding groups of two of them, with `more` in the cluster block.
StepResult step(const std::string& more, const std::string& interference) {
  const Scenario scenario = load_text(
      "model: gpt2-124m\n"
      "cluster: {node: dgx-h100, nodes: 8" +
      more +
      "}\n"
      "plan: {strategy: fsdp2, shard: 16, replicate: 4}\n"
      "training: {sequence_length: 1024, micro_batch: 8}\n"
      "software: {compile: true, interference: " +
      interference + "}\n");
  return simulate_step(test_data(), scenario);
}

Time named(const StepResult& result, const std::string& cause) {
  Time sum;
  for (const AddedTime& added : result.added)
    if (added.cause == cause) sum += added.time;
  return sum;
}

}  // namespace

TEST_CASE("a slow rank at each of 64 places holds the step up and is named") {
  for (const std::string interference : {"false", "true"}) {
    const Time healthy = step("", interference).step_time;
    for (int rank = 0; rank < 64; ++rank) {
      const std::string number = std::to_string(rank);
      INFO("rank " << rank << ", interference " << interference);
      const StepResult slow =
          step(", slow: [{rank: " + number + ", compute_time: 1.3}]", interference);
      // Where resources are shared, delaying a transfer may help another: by 1 % at most.
      if (interference == "false") REQUIRE(slow.step_time >= healthy);
      REQUIRE(slow.step_time.seconds() >= 0.99 * healthy.seconds());
      REQUIRE(named(slow, "slow rank " + number) > Time::zero());
    }
  }
}

TEST_CASE("a node with slow ports at each of 8 places holds the step up and is named") {
  for (const std::string interference : {"false", "true"}) {
    const Time healthy = step("", interference).step_time;
    for (int node = 0; node < 8; ++node) {
      const std::string number = std::to_string(node);
      INFO("node " << node << ", interference " << interference);
      const StepResult slow =
          step(", slow: [{node: " + number + ", nic_bandwidth: 0.1}]", interference);
      REQUIRE(slow.step_time > healthy);
      REQUIRE(named(slow, "slow node " + number) > Time::zero());
    }
  }
}

TEST_CASE("slow ports that messages between pipeline stages wait for are named") {
  const auto pipeline = [](const std::string& more) {
    return simulate_step(test_data(), load_text("model: llama3-8b\ncluster: {node: dgx-h100, "
                                                "nodes: 4" +
                                                more +
                                                "}\nplan: {strategy: megatron, tp: 8, pp: 4}\n"
                                                "training: {sequence_length: 2048, global_batch: "
                                                "4}\n"));
  };
  const Time healthy = pipeline("").step_time;
  for (int node = 0; node < 4; ++node) {
    const std::string number = std::to_string(node);
    INFO("node " << node);
    const StepResult slow = pipeline(", slow: [{node: " + number + ", nic_bandwidth: 0.1}]");
    CHECK(slow.step_time > healthy);
    CHECK(named(slow, "slow node " + number) > Time::zero());
  }
}
