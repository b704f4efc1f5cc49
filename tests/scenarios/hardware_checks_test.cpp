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

namespace {

// A V100 has no node type of its own.
std::string v100(const std::string& training, const std::string& software) {
  return "model: llama3.2-1b\n"
         "cluster: {node: {name: box, device: v100-sxm-32gb, gpus: 1, interconnect: pcie, "
         "pcie_generation: 3, pcie_bandwidth: 16 GB/s, socket_bandwidth: 10 GB/s, nics: 1, "
         "nic_bandwidth: 100 Gb/s, cpu: intel}, gpus: 1}\n"
         "plan: {strategy: fsdp2}\n"
         "training: {sequence_length: 128, " +
         training + "}\nsoftware: {" + software + "}\n";
}

}  // namespace

TEST_CASE("what GPUs before Ampere cannot do is refused on them") {
  CHECK(complaint(v100("precision: fp16, reduce_precision: fp32", "attention: unfused")) == "");
  CHECK(complaint(v100("precision: bf16", "attention: unfused")) ==
        "s.yaml:4:45: training.precision: is bf16, which Ampere GPUs and newer compute in, not "
        "v100-sxm-32gb (expected fp16 or fp32) (did you mean \"fp16\"?)");
  for (const std::string attention : {"flash2", "cudnn"}) {
    CHECK(complaint(v100("precision: fp16", "attention: " + attention)) ==
          "s.yaml:5:23: software.attention: is " + attention +
              ", which runs on Ampere GPUs and newer, not on v100-sxm-32gb (expected unfused) (did "
              "you mean \"unfused\"?)");
  }
}

TEST_CASE("a single switch has no uplinks to be oversubscribed") {
  const std::string fabric = "  nodes: 2\n  fabric: {kind: single-switch, oversubscription: ";
  CHECK(
      complaint(scenario_text({{4, fabric + "2}"}})) ==
      "s.yaml:5:51: cluster.fabric.oversubscription: has no meaning with a single switch (expected "
      "rail-optimized or fat-tree as cluster.fabric.kind, or no such key)");
  CHECK(complaint(scenario_text({{4, fabric + "1}"}})) == "");
}

TEST_CASE("a measurement that no step can have is refused at its place") {
  CHECK(complaint(scenario_text({{12, "measured: {step_time: 1e-30 s}"}})) ==
        "s.yaml:12:23: measured.step_time: means a step of 1e-12 s (expected a step of 1 us to 100 "
        "days)");
  CHECK(complaint(scenario_text({{12, "measured: {tokens_per_second: 1e17}"}}))
            .find("measured.tokens_per_second: means a step of") != std::string::npos);
  CHECK(complaint(scenario_text({{12, "measured: {step_time: 9.6 s}"}})) == "");
}

TEST_CASE("numbers of a node may stand without a source, and then the answer says so") {
  const Scenario scenario = load_text(v100("precision: fp16", "attention: unfused"));
  const auto& bandwidth = scenario.cluster.node.pcie_bandwidth;
  CHECK(bandwidth.value.gigabytes_per_second() == 16);
  CHECK(bandwidth.source.kind == stepsim::SourceKind::assumed);
  CHECK(bandwidth.source.note == "given without a source");
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
