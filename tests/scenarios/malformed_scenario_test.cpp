#include "tests/scenarios/scenario_text.hpp"
#include "tests/support/catch.hpp"

#include <string>
#include <vector>

using namespace stepsim::scenarios;
namespace fs = std::filesystem;

namespace {

struct Case {
  std::map<int, std::string> lines;  // of scenario_text
  const char* message;
};

void check(const std::vector<Case>& cases) {
  for (const Case& malformed : cases) {
    CAPTURE(malformed.lines);
    CHECK(complaint(scenario_text(malformed.lines)) == malformed.message);
  }
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

TEST_CASE("the scenario that the malformed ones are made from loads") {
  CHECK(complaint(scenario_text()) == "");
}

TEST_CASE("unknown keys are refused with the nearest key") {
  check({
      {{{4, "  nods: 2"}},
       "s.yaml:4:3: cluster.nods: is not a known key (did you mean \"nodes\"?)"},
      {{{7, "  shrad: 16"}},
       "s.yaml:7:3: plan.shrad: is not a known key (did you mean \"shard\"?)"},
      {{{12, "sofware: {compile: true}"}},
       "s.yaml:12:1: sofware: is not a known key (did you mean \"software\"?)"},
      {{{12, "hardware: {}"}},
       "s.yaml:12:1: hardware: is not a known key (expected model, cluster, plan, training, "
       "software, measured or reliability)"},
      {{{4, "  nodes: 2\n  fabric: {kind: fat-tree, speed: 1}"}},
       "s.yaml:5:28: cluster.fabric.speed: is not a known key (expected kind, oversubscription, "
       "nic, nics_per_node, nodes_per_leaf, nodes_per_pod, pod_oversubscription, latency or "
       "ecmp)"},
  });
}

TEST_CASE("values of the wrong type are refused with what was expected") {
  check({
      {{{4, "  nodes: two"}},
       "s.yaml:4:10: cluster.nodes: \"two\" is not a whole number (expected a whole number from 1 "
       "to 131072)"},
      {{{4, "  nodes: 0"}},
       "s.yaml:4:10: cluster.nodes: is 0 (expected a whole number from 1 to 131072)"},
      {{{4, "  nodes: -1"}},
       "s.yaml:4:10: cluster.nodes: is -1 (expected a whole number from 1 to 131072)"},
      {{{4, "  nodes: 2.0"}},
       "s.yaml:4:10: cluster.nodes: \"2.0\" is not a whole number (expected a whole number from 1 "
       "to 131072) (did you mean \"2\"?)"},
      {{{4, "  nodes: 010"}},
       "s.yaml:4:10: cluster.nodes: \"010\" is not a whole number (expected a whole number from 1 "
       "to 131072) (did you mean \"10\"?)"},
      {{{4, "  nodes: 0x10"}},
       "s.yaml:4:10: cluster.nodes: \"0x10\" is not a whole number (expected a whole number from 1 "
       "to 131072) (did you mean \"16\"?)"},
      {{{4, "  nodes: 1_000"}},
       "s.yaml:4:10: cluster.nodes: \"1_000\" is not a whole number (expected a whole number from "
       "1 to 131072) (did you mean \"1000\"?)"},
      {{{4, "  nodes: \"2\""}},
       "s.yaml:4:10: cluster.nodes: is the text \"2\" (expected a whole number from 1 to 131072, "
       "without quotes)"},
      {{{4, "  nodes: 99999999999999999999"}},
       "s.yaml:4:10: cluster.nodes: \"99999999999999999999\" is too large (expected a whole number "
       "from 1 to 131072)"},
      {{{4, "  nodes: [2]"}},
       "s.yaml:4:10: cluster.nodes: is a list (expected a whole number from 1 to 131072)"},
      {{{4, "  nodes:"}},
       "s.yaml:4:3: cluster.nodes: is empty (expected a whole number from 1 to 131072)"},
      {{{9, "  sequence_length: .nan"}},
       "s.yaml:9:20: training.sequence_length: \".nan\" is not a whole number (expected a whole "
       "number from 1 to 10000000)"},
      {{{9, "  sequence_length: .inf"}},
       "s.yaml:9:20: training.sequence_length: \".inf\" is not a whole number (expected a whole "
       "number from 1 to 10000000)"},
      {{{12, "software: {compile: yes}"}},
       "s.yaml:12:21: software.compile: is \"yes\" (expected true or false) (did you mean "
       "\"true\"?)"},
      {{{12, "software: {compile: True}"}},
       "s.yaml:12:21: software.compile: is \"True\" (expected true or false) (did you mean "
       "\"true\"?)"},
      {{{12, "software: {nccl: 2.27}"}},
       "s.yaml:12:18: software.nccl: is 2.27 (expected text; put it in quotes: '2.27')"},
      {{{12, "software: {nccl: latest}"}},
       "s.yaml:12:18: software.nccl: is \"latest\" (expected a version such as "
       "\"2.27.7\")"},
      {{{12, "software: fast"}}, "s.yaml:12:11: software: is \"fast\" (expected a block of keys)"},
      {{{2, "cluster: dgx-h100"}, {3, ""}, {4, ""}},
       "s.yaml:2:10: cluster: is \"dgx-h100\" (expected a block of keys)"},
      {{{6, "  strategy: fsdp"}},
       "s.yaml:6:13: plan.strategy: is \"fsdp\" (expected ddp, fsdp2 or megatron) (did you mean "
       "\"fsdp2\"?)"},
      {{{4, "  nodes: 2\n  fabric: {oversubscription: 0.5}"}},
       "s.yaml:5:30: cluster.fabric.oversubscription: is 0.5 (expected a number from 1 to 1000)"},
      {{{4, "  nodes: 2\n  fabric: {kind: rail_optimized}"}},
       "s.yaml:5:18: cluster.fabric.kind: is \"rail_optimized\" (expected single-switch, "
       "rail-optimized or fat-tree) (did you mean \"rail-optimized\"?)"},
  });
}

TEST_CASE("quantities without a unit or with a wrong one are refused with a suggestion") {
  check({
      {{{4, "  nodes: 2\n  fabric: {nic: 400}"}},
       "s.yaml:5:17: cluster.fabric.nic: \"400\" has no unit (expected a rate such as 400 Gb/s or "
       "50 GB/s (b is bits, B is bytes)) (did you mean \"400 Gb/s\"?)"},
      {{{4, "  nodes: 2\n  fabric: {nic: 400 gbps}"}},
       "s.yaml:5:17: cluster.fabric.nic: \"400 gbps\" has the unknown unit \"gbps\" (expected a "
       "rate such as 400 Gb/s or 50 GB/s (b is bits, B is bytes)) (did you mean \"400 Gb/s\"?)"},
      {{{4, "  nodes: 2\n  gpu: {memory: 80}"}},
       "s.yaml:5:17: cluster.gpu.memory: \"80\" has no unit (expected a number of bytes such as 80 "
       "GB or 80 GiB) (did you mean \"80 GB\"?)"},
      {{{4, "  nodes: 2\n  gpu: {memory: 80 Gb}"}},
       "s.yaml:5:17: cluster.gpu.memory: \"80 Gb\" has the unknown unit \"Gb\" (expected a number "
       "of bytes such as 80 GB or 80 GiB) (did you mean \"80 GB\"?)"},
      {{{4, "  nodes: 2\n  gpu: {memory: -80 GB}"}},
       "s.yaml:5:17: cluster.gpu.memory: \"-80 GB\" is negative (expected a number of bytes such "
       "as 80 GB or 80 GiB)"},
      {{{12, "measured: {step_time: 9.6}"}},
       "s.yaml:12:23: measured.step_time: \"9.6\" has no unit (expected a time such as 3.9 s or "
       "250 us, with one of ps, ns, us, ms, s, min, h, d) (did you mean \"9.6 s\"?)"},
      {{{12, "measured: {step_time: 9.6 seconds}"}},
       "s.yaml:12:23: measured.step_time: \"9.6 seconds\" has the unknown unit \"seconds\" "
       "(expected a time such as 3.9 s or 250 us, with one of ps, ns, us, ms, s, min, h, d) (did "
       "you mean \"9.6 s\"?)"},
      {{{12, "measured: {step_time: 0 s}"}},
       "s.yaml:12:23: measured.step_time: is 0 (expected a time above 0)"},
      {{{12, "measured: {step_time: 1000 d}"}},
       "s.yaml:12:23: measured.step_time: \"1000 d\" is too large (expected at most 106 days)"},
      {{{12, "measured: {mfu: 45}"}},
       "s.yaml:12:17: measured.mfu: is 45 (expected a number from 0.001 to 1)"},
      {{{12, "measured: {mfu: 45 %}"}},
       "s.yaml:12:17: measured.mfu: \"45 %\" is not a number (expected a number from 0.001 to 1)"},
  });
}

TEST_CASE("missing keys are reported once, without their range checks") {
  check({
      {{{1, ""}}, "s.yaml:2:1: model: is missing"},
      {{{3, ""}}, "s.yaml:4:3: cluster.node: is missing"},
      {{{4, ""}}, "s.yaml:3:3: cluster.nodes: is missing (expected nodes, or gpus)"},
      {{{6, ""}}, "s.yaml:7:3: plan.strategy: is missing"},
      {{{9, ""}}, "s.yaml:10:3: training.sequence_length: is missing"},
      {{{12, "measured: {source: a blog}"}},
       "s.yaml:12:11: measured: has no measurement (expected step_time, tokens_per_second, "
       "tokens_per_second_per_gpu, model_flops_per_second_per_gpu, "
       "hardware_flops_per_second_per_gpu, mfu, hfu, peak_memory or out_of_memory)"},
  });
  CHECK(complaint("model: llama3-8b\n") ==
        "s.yaml:1:1: cluster: is missing\n"
        "s.yaml:1:1: plan: is missing\n"
        "s.yaml:1:1: training: is missing");
}

TEST_CASE("plans that cannot be are refused with the nearest that can") {
  check({
      {{{7, "  shard: 12"}},
       "s.yaml:7:10: plan.shard: shard 12 times replicate 1 is 12 ranks, but the cluster has 16 "
       "GPUs (expected a product of 16) (did you mean \"16\"?)"},
      {{{7, "  shard: 32"}},
       "s.yaml:7:10: plan.shard: shard 32 times replicate 1 is 32 ranks, but the cluster has 16 "
       "GPUs (expected a product of 16) (did you mean \"16\"?)"},
      {{{7, "  replicate: 3"}},
       "s.yaml:7:14: plan.replicate: replicate 3 does not divide 16 GPUs (expected a divisor of "
       "16) (did you mean \"2\"?)"},
      {{{6, "  strategy: ddp"}, {7, "  replicate: 8"}},
       "s.yaml:7:14: plan.replicate: ddp replicates on every GPU: replicate 8 does not fit 16 GPUs "
       "(expected 16) (did you mean \"16\"?)"},
      {{{11, "  global_batch: 24"}},
       "s.yaml:11:17: training.global_batch: is 24, which does not divide into micro-batches of 1 "
       "on 16 replicas (expected a multiple of 16) (did you mean \"32\"?)"},
      {{{11, "  global_batch: 1"}},
       "s.yaml:11:17: training.global_batch: is 1, which does not divide into micro-batches of 1 "
       "on 16 replicas (expected a multiple of 16) (did you mean \"16\"?)"},
      {{{4, "  nodes: 2\n  gpus: 20"}},
       "s.yaml:5:9: cluster.gpus: is 20, but 2 nodes of 8 have room for 16 (expected from 9 to "
       "16)"},
      {{{4, "  nodes: 2\n  gpus: 8"}},
       "s.yaml:5:9: cluster.gpus: is 8, but 2 nodes of 8 have room for 16 (expected from 9 to 16)"},
      {{{4, "  nodes: 100000"}},
       "s.yaml:4:10: cluster.nodes: is 100000: 800000 GPUs (expected at most 131072 GPUs)"},
      {{{9, "  sequence_length: 9000000"}, {10, "  micro_batch: 100"}},
       "s.yaml:10:16: training.micro_batch: makes micro-batches of 900000000 tokens (expected at "
       "most 134217728)"},
      {{{11, "  global_batch: 800000000"}},
       "s.yaml:11:17: training.global_batch: makes 50000000 micro-batches of 32 layers (expected "
       "at most 100000 layers times micro-batches)"},
      {{{1, "model: gpt2-124m"}},
       "s.yaml:9:20: training.sequence_length: a sequence of 8192 tokens is longer than the "
       "position table of gpt2-124m (expected at most 1024 tokens)"},
  });
}

TEST_CASE("keys that make no sense for a strategy or a policy are refused, not ignored") {
  check({
      {{{6, "  strategy: ddp"}},
       "s.yaml:7:10: plan.shard: makes no sense with strategy: ddp (expected no such key)"},
      {{{6, "  strategy: ddp"}, {7, "  reshard_after_forward: true"}},
       "s.yaml:7:26: plan.reshard_after_forward: makes no sense with strategy: ddp (expected no "
       "such key)"},
      {{{6, "  strategy: ddp"}, {7, ""}, {10, "  gradient_sync: last"}},
       "s.yaml:10:18: training.gradient_sync: makes no sense with strategy: ddp (expected no such "
       "key)"},
      {{{7, "  bucket_size: 25 MiB"}},
       "s.yaml:7:16: plan.bucket_size: makes no sense with strategy: fsdp2 (expected no such key)"},
      {{{7, "  gradient_as_bucket_view: true"}},
       "s.yaml:7:28: plan.gradient_as_bucket_view: makes no sense with strategy: fsdp2 (expected "
       "no such key)"},
      {{{10, "  activation_checkpointing: {kind: full, policy: op}"}},
       "s.yaml:10:50: training.activation_checkpointing.policy: makes no sense without kind: "
       "selective"},
      {{{10, "  activation_checkpointing: {kind: selective, policy: op, n: 2}"}},
       "s.yaml:10:62: training.activation_checkpointing.n: makes no sense without policy: every_n"},
      {{{10, "  activation_checkpointing: {kind: none, early_stop: false}"}},
       "s.yaml:10:54: training.activation_checkpointing.early_stop: makes no sense with kind: "
       "none"},
      {{{12, "software: {nccl: {algo: nvls, nvls: false}}"}},
       "s.yaml:12:25: software.nccl.algo: is nvls, which nvls: false forbids (expected another "
       "algorithm)"},
      {{{12, "measured: {step_time: 1 s, peak: 989 TFLOP/s}"}},
       "s.yaml:12:34: measured.peak: makes no sense without mfu or hfu"},
      {{{12, "measured: {step_time: 1 s, flops_convention: six-n}"}},
       "s.yaml:12:46: measured.flops_convention: makes no sense without mfu, hfu or FLOPs a "
       "second"},
  });
}

TEST_CASE("what later versions will know is refused by saying so") {
  check({
      {{{6, "  strategy: zero3"}},
       "s.yaml:6:13: plan.strategy: \"zero3\" is not supported by this version yet (expected ddp, "
       "fsdp2 or megatron)"},
      {{{7, "  shard: 16\n  tp: 8"}},
       "s.yaml:8:7: plan.tp: above 1 with strategy: fsdp2 is not supported by this version yet "
       "(expected 1, or strategy: megatron)"},
      {{{7, "  shard: 16\n  moe: {dispatcher: alltoall}"}},
       "s.yaml:8:8: plan.moe: is not supported by this version yet"},
      {{{7, "  reshard_after_forward: 8"}},
       "s.yaml:7:26: plan.reshard_after_forward: is 8, and a group size is not supported by this "
       "version yet (expected true or false)"},
      {{{10, "  precision: fp8"}},
       "s.yaml:10:14: training.precision: \"fp8\" is not supported by this version yet (expected "
       "bf16, fp16 or fp32)"},
      {{{10, "  optimizer: sgd"}},
       "s.yaml:10:14: training.optimizer: \"sgd\" is not supported by this version yet (expected "
       "adamw)"},
      {{{10, "  tokens: 15000000000000"}},
       "s.yaml:10:11: training.tokens: is not supported by this version yet"},
      {{{12, "software: {pytorch: 2.4.0}"}},
       "s.yaml:12:21: software.pytorch: is not supported by this version yet"},
      {{{12, "workload: {kind: decode}"}},
       "s.yaml:12:11: workload: is not supported by this version yet"},
  });
}

TEST_CASE("degrees of 1 that this version does not cut by are taken") {
  CHECK(complaint(scenario_text({{7, "  shard: 16\n  tp: 1\n  pp: 1\n  cp: 1"}})) == "");
  CHECK(complaint(scenario_text({{7, "  shard: 16\n  tp: one"}})) ==
        "s.yaml:8:7: plan.tp: \"one\" is not a whole number (expected a whole number from 1 to "
        "131072)");
}

TEST_CASE("models and node types that are not there are refused with the nearest") {
  check({
      {{{1, "model: llama3-8B"}},
       "s.yaml:1:8: model: there is no model named \"llama3-8B\" (expected a name of `stepsim list "
       "models`, or the path of a Hugging Face config.json) (did you mean \"llama3-8b\"?)"},
      {{{1, "model: missing/config.json"}},
       "s.yaml:1:8: model: missing/config.json: there is no such file"},
      {{{1, "model: [llama3-8b]"}},
       "s.yaml:1:8: model: is a list (expected a model name, the path of a Hugging Face "
       "config.json, or a block of its keys)"},
      {{{1, "model: 8"}}, "s.yaml:1:8: model: is 8 (expected text; put it in quotes: '8')"},
      {{{1,
         "model: {model_type: llama, hidden_size: 4096, num_hidden_layers: 2, "
         "num_attention_heads: 30, intermediate_size: 64, vocab_size: 100}"}},
       "s.yaml:1:8: model.head_dim: is missing, and a hidden size of 4096 does not divide into 30 "
       "heads (expected head_dim, or a hidden size that the heads divide)"},
      {{{1, "model: {model_type: llama, hiden_size: 4096}"}},
       "s.yaml:1:8: model.hidden_size: is missing (expected a whole number from 1 to 1000000)\n"
       "s.yaml:1:8: model.num_hidden_layers: is missing (expected a whole number from 1 to 1000)\n"
       "s.yaml:1:8: model.num_attention_heads: is missing (expected a whole number from 1 to "
       "10000)\n"
       "s.yaml:1:8: model.intermediate_size: is missing (expected a whole number from 1 to "
       "10000000)\n"
       "s.yaml:1:8: model.vocab_size: is missing (expected a whole number from 1 to 100000000)\n"
       "s.yaml:1:28: model.hiden_size: is not a known key (did you mean \"hidden_size\"?)"},
      {{{3, "  node: dgx-h10"}},
       "s.yaml:3:9: cluster.node: there is no node type named \"dgx-h10\" (expected "
       "azure-nd-a100-v4, dgx-a100, "
       "dgx-a100-40gb, dgx-b200, dgx-h100, dgx-h200, gb200-nvl72, h100-pcie-box, hgx-a100-4nic or "
       "hgx-h100-4nic) (did you mean \"dgx-h100\"?)"},
      {{{3, "  node: h100-sxm-80gb"}},
       "s.yaml:3:9: cluster.node: \"h100-sxm-80gb\" is a GPU, not a node type (expected "
       "azure-nd-a100-v4, dgx-a100, "
       "dgx-a100-40gb, dgx-b200, dgx-h100, dgx-h200, gb200-nvl72, h100-pcie-box, hgx-a100-4nic or "
       "hgx-h100-4nic)"},
      {{{3, "  node: nodes/mine.yaml"}},
       "s.yaml:3:9: cluster.node: nodes/mine.yaml: there is no such file"},
      {{{3, "  node: topology.xml"}},
       "s.yaml:3:9: cluster.node: topology.xml: there is no such file"},
      {{{3, "  node: {name: mine, device: h100-sxm-80gb}"}},
       "s.yaml:3:9: cluster.node.gpus: is missing\n"
       "s.yaml:3:9: cluster.node.interconnect: is missing\n"
       "s.yaml:3:9: cluster.node.nvlink_bandwidth: is missing\n"
       "s.yaml:3:9: cluster.node.nvlink_count: is missing\n"
       "s.yaml:3:9: cluster.node.pcie_generation: is missing\n"
       "s.yaml:3:9: cluster.node.pcie_bandwidth: is missing\n"
       "s.yaml:3:9: cluster.node.socket_bandwidth: is missing\n"
       "s.yaml:3:9: cluster.node.nics: is missing\n"
       "s.yaml:3:9: cluster.node.nic_bandwidth: is missing\n"
       "s.yaml:3:9: cluster.node.cpu: is missing"},
  });
}

TEST_CASE("problems in the files that a scenario names are located in those files") {
  const TemporaryFolder folder;
  folder.write("config.json", "{\n  \"model_type\": \"llama\",\n  \"hidden_size\": 0\n}\n");
  folder.write("node.yaml", "name: mine\ndevice: h100-sxm-80gb\ngpu: 8\n");
  folder.write("s.yaml", scenario_text({{1, "model: config.json"}, {3, "  node: ./node.yaml"}}));
  CHECK(
      complaint_of_file(folder, "s.yaml") ==
      "config.json:1:1: num_hidden_layers: is missing (expected a whole number from 1 to 1000)\n"
      "config.json:1:1: num_attention_heads: is missing (expected a whole number from 1 to 10000)\n"
      "config.json:1:1: intermediate_size: is missing (expected a whole number from 1 to "
      "10000000)\n"
      "config.json:1:1: vocab_size: is missing (expected a whole number from 1 to 100000000)\n"
      "config.json:3:18: hidden_size: is 0 (expected a whole number from 1 to 1000000)\n"
      "node.yaml:1:1: gpus: is missing\n"
      "node.yaml:1:1: interconnect: is missing\n"
      "node.yaml:1:1: nvlink_bandwidth: is missing\n"
      "node.yaml:1:1: nvlink_count: is missing\n"
      "node.yaml:1:1: pcie_generation: is missing\n"
      "node.yaml:1:1: pcie_bandwidth: is missing\n"
      "node.yaml:1:1: socket_bandwidth: is missing\n"
      "node.yaml:1:1: nics: is missing\n"
      "node.yaml:1:1: nic_bandwidth: is missing\n"
      "node.yaml:1:1: cpu: is missing\n"
      "node.yaml:3:1: gpu: is not a known key (did you mean \"gpus\"?)");
  folder.write("binary.json", std::string("\x7f"
                                          "ELF\0\0",
                                          6));
  folder.write("s.yaml", scenario_text({{1, "model: binary.json"}}));
  CHECK(complaint_of_file(folder, "s.yaml") ==
        "binary.json:1:1: is the control character \"\\x7f\" (expected a text file)");
}

TEST_CASE("several problems are reported in one run, in the order of the file") {
  CHECK(
      complaint(scenario_text({{1, "model: lama3-8b"},
                               {4, "  nodes: 0"},
                               {6, "  strategy: fsdp3"},
                               {10, "  micro_batch: 1\n  micro_batch: 2"},
                               {12, "software: {attention: flash4}"}})) ==
      "s.yaml:1:8: model: there is no model named \"lama3-8b\" (expected a name of `stepsim list "
      "models`, or the path of a Hugging Face config.json) (did you mean \"llama3-8b\"?)\n"
      "s.yaml:4:10: cluster.nodes: is 0 (expected a whole number from 1 to 131072)\n"
      "s.yaml:6:13: plan.strategy: is \"fsdp3\" (expected ddp, fsdp2 or megatron) (did you mean "
      "\"fsdp2\"?)\n"
      "s.yaml:11:3: the key \"micro_batch\" is there twice (expected it once; first at line 10)\n"
      "s.yaml:13:23: software.attention: is \"flash4\" (expected flash1, flash2, flash3, cudnn or "
      "unfused) (did you mean \"flash1\"?)");
}

TEST_CASE("files that are no YAML document of ours are refused with their place") {
  CHECK(complaint("") == "s.yaml:1:1: is empty");
  CHECK(complaint("# nothing\n") == "s.yaml:1:1: is empty");
  CHECK(complaint("- model: llama3-8b\n") == "s.yaml:1:1: is a list (expected a block of keys)");
  CHECK(complaint("llama3-8b\n") == "s.yaml:1:1: is \"llama3-8b\" (expected a block of keys)");
  CHECK(complaint("a: &a {b: *a}\n") == "s.yaml:1:11: is an alias of a block that contains it");
  CHECK(complaint(scenario_text({{12, "<<: {software: {}}"}})) ==
        "s.yaml:12:1: is a merge key, which is not supported (expected the keys written out)");
  CHECK(complaint(scenario_text({{12, "---\nmodel: llama3-8b"}})) ==
        "s.yaml:12:1: is a second document (expected one document in a file)");
  CHECK(complaint(scenario_text({{3, "\tnode: dgx-h100"}})) ==
        "s.yaml:3:1: is a tab in the indentation (expected spaces)");
  CHECK(complaint(scenario_text({{12, "software: " + repeated("[", 65) + repeated("]", 65)}})) ==
        "s.yaml:12:74: is nested too deeply (expected at most 64 levels)");
  CHECK(complaint(scenario_text({{12, "software: {compile: true"}})) ==
        "s.yaml:13:1: is not valid YAML: end of map flow not found");
  CHECK(complaint(scenario_text({{12, "software: !!map {}"}})) ==
        "s.yaml:12:11: has a YAML tag, which is not supported (expected a plain value)");
  CHECK(complaint(scenario_text({{4, "  nodes: 2\n  nodes: 4"}})) ==
        "s.yaml:5:3: the key \"nodes\" is there twice (expected it once; first at line 4)");
  CHECK(complaint(std::string("\x7f"
                              "ELF\x02\0\0\0",
                              8)) ==
        "s.yaml:1:1: is the control character \"\\x7f\" (expected a text file)");
  CHECK(complaint("model: \xff\n") == "s.yaml:1:8: is not UTF-8 text (expected a text file)");
  CHECK(complaint("model: " + std::string(10'000'000, 'x')) ==
        "s.yaml:1:1: is 10000007 bytes long (expected at most 8000000 bytes)");
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string name = "a" + std::to_string(i);
    const std::string last = "*a" + std::to_string(i - 1);
    laughs += name + ": &" + name + " [" + repeated(last + ", ", 9) + last + "]\n";
  }
  CHECK(complaint(laughs) ==
        "s.yaml:5:45: is an alias that expands the file to more than 100000 values");
}

TEST_CASE("what is no file to read is refused by name") {
  const TemporaryFolder folder;
  CHECK(complaint_of_file(folder, "missing.yaml") == "missing.yaml: there is no such file");
  fs::create_directory(folder.path() / "folder.yaml");
  CHECK(complaint_of_file(folder, "folder.yaml") ==
        "folder.yaml: is a directory (expected a file)");
  folder.write("scenario.yaml", scenario_text());
  CHECK(complaint_of_file(folder, "senario.yaml") ==
        "senario.yaml: there is no such file (did you mean \"scenario.yaml\"?)");
  folder.write("secret.yaml", scenario_text());
  fs::permissions(folder.path() / "secret.yaml", fs::perms::none);
  const bool may_read_anything = complaint_of_file(folder, "secret.yaml").empty();  // as root
  if (!may_read_anything)
    CHECK(complaint_of_file(folder, "secret.yaml") ==
          "secret.yaml: cannot be opened (expected a file that may be read)");
}

TEST_CASE("other kinds of file are told from scenarios") {
  CHECK(complaint("suite: mine\ncases: []\n") ==
        "s.yaml:1:1: suite: this file is a suite of measured runs, not a scenario (expected a file "
        "with the keys model, cluster, plan and training)");
  CHECK(complaint("base: a.yaml\naxes: {cluster.nodes: [1, 2]}\n") ==
        "s.yaml:2:1: axes: this file is a sweep, not a scenario (expected a file with the keys "
        "model, cluster, plan and training)");
  CHECK(complaint("model_type: llama\nhidden_size: 4096\n") ==
        "s.yaml:1:1: model_type: this file is a model, not a scenario (expected a scenario that "
        "names it: model: FILE)");
  CHECK(complaint("name: mine\ninterconnect: nvswitch\n") ==
        "s.yaml:2:1: interconnect: this file is a node type, not a scenario (expected a scenario "
        "that names it: cluster: { node: FILE })");
}
