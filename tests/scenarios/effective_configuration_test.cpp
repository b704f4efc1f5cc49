#include "scenarios/scenario.hpp"

#include "tests/scenarios/scenario_text.hpp"
#include "tests/support/catch.hpp"

using namespace stepsim;
using namespace stepsim::scenarios;

namespace {

void check_round_trip(const std::map<int, std::string>& lines) {
  const TemporaryFolder folder;
  folder.write("tiny.json",
               "{\"model_type\": \"llama\", \"hidden_size\": 512, \"num_hidden_layers\": 2, "
               "\"num_attention_heads\": 8, \"intermediate_size\": 1024, \"vocab_size\": 1000}");
  const Scenario first =
      load_scenario(test_data(), folder.write("s.yaml", scenario_text(lines)), {});
  const std::string text = effective_configuration(first);
  INFO(text);
  const TemporaryFolder elsewhere;
  const Scenario second = load_scenario(test_data(), elsewhere.write("t.yaml", text), {});
  CHECK(effective_configuration(second) == text);
  CHECK(second.model.hidden == first.model.hidden);
  CHECK(second.model.layers == first.model.layers);
  CHECK(second.cluster.node.name == first.cluster.node.name);
  CHECK(second.cluster.gpus == first.cluster.gpus);
  CHECK(second.cluster.node.nics.value == first.cluster.node.nics.value);
  CHECK(second.cluster.node.device.memory_capacity.value ==
        first.cluster.node.device.memory_capacity.value);
  CHECK(second.plan.shard == first.plan.shard);
  CHECK(second.plan.bucket_bytes == first.plan.bucket_bytes);
  CHECK(second.training.checkpoint_every_n == first.training.checkpoint_every_n);
  CHECK(second.training.checkpoint_early_stop == first.training.checkpoint_early_stop);
  CHECK(second.training.gradient_sync_every_micro_batch ==
        first.training.gradient_sync_every_micro_batch);
  CHECK(second.software.interference == first.software.interference);
  REQUIRE(second.slow.size() == first.slow.size());
  for (std::size_t i = 0; i < first.slow.size(); ++i) {
    CHECK(second.slow[i].rank == first.slow[i].rank);
    CHECK(second.slow[i].compute_time == first.slow[i].compute_time);
    CHECK(second.slow[i].node == first.slow[i].node);
    CHECK(second.slow[i].nic_bandwidth == first.slow[i].nic_bandwidth);
  }
  REQUIRE(second.noise.has_value() == first.noise.has_value());
  if (first.noise) {
    CHECK(second.noise->kernel == first.noise->kernel);
    CHECK(second.noise->step == first.noise->step);
    CHECK(second.noise->seed == first.noise->seed);
    CHECK(second.noise->seeds == first.noise->seeds);
  }
  REQUIRE(second.reliability.has_value() == first.reliability.has_value());
  if (first.reliability) {
    CHECK(second.reliability->node_failures_per_year == first.reliability->node_failures_per_year);
    CHECK(second.reliability->checkpoint_interval == first.reliability->checkpoint_interval);
    CHECK(second.reliability->days == first.reliability->days);
  }
  CHECK(second.measured.has_value() == first.measured.has_value());
  if (first.measured) CHECK(second.measured->step_time_s == first.measured->step_time_s);
}

}  // namespace

TEST_CASE("the effective configuration names every key with its value") {
  CHECK(effective_configuration(load_text(scenario_text({{7, ""}, {11, ""}}))) ==
        "model: llama3-8b\n"
        "cluster:\n"
        "  node: dgx-h100\n"
        "  nodes: 2\n"
        "  gpus: 16\n"
        "  fabric:\n"
        "    kind: rail-optimized\n"
        "    oversubscription: 1\n"
        "plan:\n"
        "  strategy: fsdp2\n"
        "  shard: 16\n"
        "  replicate: 1\n"
        "  reshard_after_forward: true\n"
        "training:\n"
        "  sequence_length: 8192\n"
        "  micro_batch: 1\n"
        "  global_batch: 16\n"
        "  precision: bf16\n"
        "  parameter_precision: fp32\n"
        "  reduce_precision: fp32\n"
        "  activation_checkpointing: none\n"
        "  optimizer: adamw\n"
        "  gradient_sync: every\n"
        "software:\n"
        "  compile: true\n"
        "  cuda_graph: false\n"
        "  attention: flash2\n"
        "  fused:\n"
        "    optimizer: true\n"
        "  nccl: \"2.27.7\"\n"
        "  interference: true\n");
}

TEST_CASE("the effective configuration loads to the same scenario, from any folder") {
  check_round_trip({});
  check_round_trip({{6, "  strategy: ddp"}, {7, "  bucket_size: 7 MiB"}});
  check_round_trip(
      {{6, "  strategy: ddp"}, {7, "  gradient_as_bucket_view: true\n  bucket_size: 1234567 B"}});
  check_round_trip(
      {{7, "  replicate: 2\n  reshard_after_forward: false"}, {10, "  gradient_sync: last"}});
  check_round_trip({{10, "  activation_checkpointing: {kind: selective, policy: every_n, n: 3}"}});
  check_round_trip({{10, "  activation_checkpointing: {kind: full, early_stop: false}"}});
  check_round_trip({{10,
                     "  activation_checkpointing: {kind: selective, policy: core_attention, "
                     "early_stop: false}"}});
  check_round_trip({{1, "model: tiny.json"}});
  check_round_trip({{1,
                     "model: {model_type: llama, hidden_size: 512, num_hidden_layers: 3, "
                     "num_attention_heads: 8, intermediate_size: 1024, vocab_size: 1000}"}});
  check_round_trip({{4,
                     "  nodes: 2\n  gpu: {memory: 79.15 GiB, memory_bandwidth: 2.039 TB/s}\n"
                     "  fabric: {kind: fat-tree, oversubscription: 1.5, nic: 200 Gb/s, "
                     "nics_per_node: 4}"}});
  check_round_trip({{4,
                     "  nodes: 8\n  fabric: {nodes_per_leaf: 2, nodes_per_pod: 4, "
                     "pod_oversubscription: 7, latency: 2.5 us, ecmp: 17}"},
                    {7, "  shard: 64"},
                    {11, "  global_batch: 64"}});
  check_round_trip({{12,
                     "measured: {mfu: 0.412, peak: 989.4 TFLOP/s, flops_convention: six-n, "
                     "source: 'a \"log\": #3'}"}});
  check_round_trip(
      {{4,
        "  nodes: 2\n  slow: [{rank: 3, compute_time: 1.3}, {rank: 9, compute_time: 2}, {node: 1, "
        "nic_bandwidth: 0.5}]"}});
  check_round_trip({{4, "  nodes: 2\n  noise: {kernel: 0.05, step: 0.0125, seed: 7, seeds: 12}"}});
  check_round_trip({{4, "  nodes: 2\n  noise: {kernel: 0.05}"}});
  check_round_trip(
      {{12,
        "reliability: {node_failures_per_year: 0.25, checkpoint_write: 12.5 s, restart: "
        "10 min, checkpoint_interval: 15 min, days: 54}"}});
  check_round_trip({{12, "software: {interference: false}"}});
  check_round_trip({{12, "measured: {step_time: 1.2345 s}"}});
  check_round_trip({{12, "software: {nccl: {algo: ring, max_ctas: 4, nvls: false}}"}});
}
