#include "tests/scenarios/scenario_text.hpp"
#include "tests/support/catch.hpp"

using namespace stepsim::scenarios;

TEST_CASE("flash3 is refused on GPUs it does not run on, at its place") {
  const std::string flash3 = "software: {attention: flash3}";
  CHECK(complaint(scenario_text({{12, flash3}})) == "");
  CHECK(complaint(scenario_text({{3, "  node: dgx-h200"}, {12, flash3}})) == "");
  CHECK(complaint(scenario_text({{3, "  node: dgx-a100"}, {12, flash3}})) ==
        "s.yaml:12:23: software.attention: is flash3, which runs on Hopper GPUs and not on "
        "a100-sxm-80gb (expected flash2, cudnn or unfused) (did you mean \"flash2\"?)");
}

TEST_CASE("hardware too small to be one is refused at its place") {
  CHECK(complaint(scenario_text({{4, "  nodes: 2\n  gpu: {memory: 0 GB}"}})) ==
        "s.yaml:5:17: cluster.gpu.memory: is too little for a GPU (expected 1 GB or more)");
  CHECK(complaint(scenario_text({{4, "  nodes: 2\n  gpu: {memory_bandwidth: 100 B/s}"}})) ==
        "s.yaml:5:27: cluster.gpu.memory_bandwidth: is too little for a GPU (expected 1 GB/s or "
        "more)");
  CHECK(complaint(scenario_text({{4, "  nodes: 2\n  fabric: {nic: 500 Mb/s}"}})) ==
        "s.yaml:5:17: cluster.fabric.nic: is too slow for a training network (expected 1 Gb/s or "
        "more)");
  CHECK(complaint(scenario_text({{4, "  nodes: 2\n  fabric: {nic: 1 Gb/s}"}})) == "");
}

TEST_CASE("a fabric's keys that make no sense together are refused at their place") {
  const auto with = [](const std::string& fabric) {
    return complaint(scenario_text({{4, "  nodes: 2\n  fabric: {" + fabric + "}"}}));
  };
  CHECK(with("kind: single-switch, ecmp: 1") ==
        "s.yaml:5:39: cluster.fabric.ecmp: has no meaning with a single switch (expected "
        "rail-optimized or fat-tree as cluster.fabric.kind, or no such key)");
  CHECK(with("pod_oversubscription: 7") ==
        "s.yaml:5:34: cluster.fabric.pod_oversubscription: has no meaning without pods (expected "
        "nodes_per_pod beside it)");
  CHECK(with("nodes_per_leaf: 4, nodes_per_pod: 10") ==
        "s.yaml:5:46: cluster.fabric.nodes_per_pod: 10 nodes are not whole leaves of 4 (expected a "
        "multiple of 4, or another nodes_per_leaf) (did you mean \"8\"?)");
  CHECK(with("latency: 2 s") ==
        "s.yaml:5:21: cluster.fabric.latency: longer than any network's (expected 0 to 1 s)");
  CHECK(with("nodes_per_leaf: 1, nodes_per_pod: 1, pod_oversubscription: 7, latency: 2 us") == "");
}
