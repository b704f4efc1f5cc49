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

TEST_CASE("a declared node slows all its ranks, or its network ports") {
  const Scenario scenario = load_text(scenario_text({{4, R"(  nodes: 2
  gpus: 13
  slow: [{node: 1, compute_time: 1.5, nic_bandwidth: 0.25}, {rank: 2, compute_time: 2}])"},
                                                     {7, "  shard: 13"},
                                                     {11, "  global_batch: 13"}}));
  CHECK(scenario.cluster.slow_ports == std::map<int, int>{{1, 250'000}});
  sim::Job job;
  job.ranks.resize(13);
  apply_slow_parts(scenario, job);
  for (std::size_t rank = 0; rank < 13; ++rank)
    CHECK(job.ranks[rank].compute_time_millionths == (rank >= 8   ? 1'500'000
                                                      : rank == 2 ? 2'000'000
                                                                  : 1'000'000));
  CHECK(slow_part_of_rank(scenario, sim::Rank{2}) == "slow rank 2");
  CHECK(slow_part_of_rank(scenario, sim::Rank{12}) == "slow node 1");
  CHECK(slow_part_of_group(scenario, {sim::Rank{0}, sim::Rank{8}}) == "slow node 1");
}

TEST_CASE("slow entries name one rank or node and what is slow of it") {
  const auto complaint_of = [](const std::string& list) {
    return complaint(scenario_text({{4, "  nodes: 2\n  slow: " + list}}));
  };
  CHECK(complaint_of("[{node: 1, nic_bandwidth: 0.5}, {rank: 9, compute_time: 2}]") == "");
  CHECK(complaint_of("[{node: 2, nic_bandwidth: 0.5}]") ==
        "s.yaml:5:17: cluster.slow[0].node: is 2, but the cluster has 2 nodes (expected from 0 to "
        "1)");
  CHECK(complaint_of("[{node: 1, nic_bandwidth: 0}]") ==
        "s.yaml:5:35: cluster.slow[0].nic_bandwidth: is 0 (expected a number from 0.001 to 1)");
  CHECK(complaint_of("[{node: -1, nic_bandwidth: 0.5}]") != "");
  CHECK(complaint_of("[{compute_time: 2}]") ==
        "s.yaml:5:10: cluster.slow[0]: does not say what is slow (expected a key rank or node)");
  CHECK(complaint_of("[{node: 1}]") ==
        "s.yaml:5:10: cluster.slow[0]: does not say how slow the node is (expected a key "
        "compute_time or nic_bandwidth)");
  CHECK(complaint_of("[{rank: 1}]") ==
        "s.yaml:5:10: cluster.slow[0]: does not say how slow the rank is (expected a key "
        "compute_time)");
  CHECK(complaint_of("[{rank: 3, nic_bandwidth: 0.5}]") ==
        "s.yaml:5:35: cluster.slow[0].nic_bandwidth: is of a rank (expected a node, whose ports "
        "all its GPUs use)");
  CHECK(complaint_of("[{rank: 3, compute_time: 1.3, node: 1}]") ==
        "s.yaml:5:45: cluster.slow[0].node: stands beside rank (expected one of rank and node)");
  CHECK(complaint_of("[{node: 1, compute_time: 2}, {rank: 9, compute_time: 3}]") ==
        "s.yaml:5:45: cluster.slow[1].rank: is 9, a GPU of node 1, whose compute_time is there too "
        "(expected one compute_time for a GPU)");
  CHECK(complaint_of("[{rank: 9, compute_time: 3}, {node: 1, compute_time: 2}]") ==
        "s.yaml:5:62: cluster.slow[1].compute_time: is of node 1, and rank 9 of that node is there "
        "too (expected one compute_time for a GPU)");
  CHECK(complaint_of("[{node: 1, nic_bandwidth: 0.5}, {node: 1, nic_bandwidth: 0.5}]") ==
        "s.yaml:5:48: cluster.slow[1].node: is 1, which is there twice (expected each once)");
  CHECK(complaint(scenario_text({{4, "  nodes: 1\n  slow: [{node: 0, nic_bandwidth: 0.5}]"},
                                 {7, "  shard: 8"},
                                 {11, "  global_batch: 8"}})) ==
        "s.yaml:5:35: cluster.slow[0].nic_bandwidth: is of a cluster of one node, which uses no "
        "port (expected two nodes or more)");
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
