#include "scenarios/slow_parts.hpp"

#include "tests/scenarios/scenario_text.hpp"
#include "tests/support/catch.hpp"

using namespace stepsim;
using namespace stepsim::scenarios;

TEST_CASE("a declared rank takes as much longer as the scenario says, the others do not") {
  const Scenario scenario =
      load_text(scenario_text({{4, "  nodes: 2\n  slow: [{rank: 3, compute_time: 1.3}]"}}));
  sim::Job job;
  job.ranks.resize(16);
  apply_slow_parts(scenario, job);
  for (std::size_t rank = 0; rank < 16; ++rank)
    CHECK(job.ranks[rank].compute_time_millionths == (rank == 3 ? 1'300'000 : 1'000'000));
}

TEST_CASE("slow ranks are of the cluster, once each, and slower") {
  const auto complaint_of = [](const std::string& list) {
    return complaint(scenario_text({{4, "  nodes: 2\n  slow: " + list}}));
  };
  CHECK(complaint_of("[{rank: 15, compute_time: 1.3}, {rank: 0, compute_time: 2}]") == "");
  CHECK(complaint_of("[{rank: 16, compute_time: 1.3}]") ==
        "s.yaml:5:17: cluster.slow[0].rank: is 16, but the cluster has 16 GPUs (expected from 0 to "
        "15)");
  CHECK(complaint_of("[{rank: 3, compute_time: 2}, {rank: 3, compute_time: 3}]") ==
        "s.yaml:5:45: cluster.slow[1].rank: is 3, which is there twice (expected each once)");
  CHECK(complaint_of("[{rank: 3, compute_time: 0.5}]") ==
        "s.yaml:5:34: cluster.slow[0].compute_time: is 0.5 (expected a number from 1 to 1000)");
  CHECK(complaint_of("{rank: 3, compute_time: 2}") != "");
}
