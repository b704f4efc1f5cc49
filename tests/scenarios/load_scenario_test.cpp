#include "scenarios/scenario.hpp"

#include "tests/scenarios/scenario_text.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>

using namespace stepsim;
using namespace stepsim::scenarios;
using workloads::CheckpointKind;
using workloads::DType;
using workloads::SelectivePolicy;
using workloads::Strategy;

namespace {

bool mentions(const std::vector<std::string>& notes, const std::string& part) {
  return std::any_of(notes.begin(), notes.end(),
                     [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("a scenario has the values of its file and defaults for the rest") {
  const Scenario scenario = load_text(scenario_text());
  CHECK(scenario.model.layers == 32);
  CHECK(scenario.cluster.node.name == "dgx-h100");
  CHECK(scenario.cluster.nodes == 2);
  CHECK(scenario.cluster.gpus == 16);
  CHECK(scenario.cluster.fabric == topology::FabricKind::rail_optimized);
  CHECK(scenario.plan.strategy == Strategy::fsdp2);
  CHECK(scenario.plan.shard == 16);
  CHECK(scenario.plan.replicate == 1);
  CHECK(scenario.plan.reshard_after_forward);
  CHECK(scenario.training.sequence_length == 8192);
  CHECK(scenario.training.global_batch == 16);
  CHECK(scenario.training.precision == DType::bf16);
  CHECK(scenario.training.reduce_precision == DType::fp32);
  CHECK(scenario.training.activation_checkpointing == CheckpointKind::none);
  CHECK(scenario.software.compile);
  CHECK_FALSE(scenario.measured);
}

TEST_CASE("the degree that is left out fills the cluster") {
  CHECK(load_text(scenario_text({{7, ""}})).plan.shard == 16);
  CHECK(load_text(scenario_text({{7, "  replicate: 2"}})).plan.shard == 8);
  const Scenario ddp = load_text(scenario_text({{6, "  strategy: ddp"}, {7, ""}}));
  CHECK(ddp.plan.replicate == 16);
  CHECK(ddp.plan.shard == 1);
}

TEST_CASE("nodes follow from GPUs and GPUs from nodes") {
  const Scenario part = load_text(scenario_text({{4, "  gpus: 12"}, {7, ""}, {11, ""}}));
  CHECK(part.cluster.nodes == 2);
  CHECK(part.cluster.gpus == 12);
  CHECK(part.plan.shard == 12);
  CHECK(part.training.global_batch == 12);
  CHECK(load_text(scenario_text({{4, "  gpus: 16"}})).cluster.nodes == 2);
  CHECK(load_text(scenario_text({{4, "  gpus: 1"}, {7, ""}, {11, ""}})).cluster.nodes == 1);
}

TEST_CASE("ddp reduces gradients in the precision of the parameters unless told otherwise") {
  const Scenario ddp = load_text(
      scenario_text({{6, "  strategy: ddp"}, {7, ""}, {10, "  parameter_precision: bf16"}}));
  CHECK(ddp.training.reduce_precision == DType::bf16);
  const Scenario told =
      load_text(scenario_text({{6, "  strategy: ddp"}, {7, ""}, {10, "  reduce_precision: bf16"}}));
  CHECK(told.training.reduce_precision == DType::bf16);
  CHECK(told.training.parameter_precision == DType::fp32);
}

TEST_CASE("checkpointing is a word or a block") {
  const auto training = [](const std::string& value) {
    return load_text(scenario_text({{10, "  activation_checkpointing: " + value}})).training;
  };
  CHECK(training("full").activation_checkpointing == CheckpointKind::full);
  CHECK(training("selective").selective_policy == SelectivePolicy::op);
  const workloads::Training every = training("{kind: selective, policy: every_n, n: 3}");
  CHECK(every.selective_policy == SelectivePolicy::every_n);
  CHECK(every.checkpoint_every_n == 3);
  CHECK_FALSE(training("{kind: full, early_stop: false}").checkpoint_early_stop);
}

TEST_CASE("NCCL is given by its version or by what is set of it") {
  const auto nccl = [](const std::string& value) {
    return load_text(scenario_text({{12, "software: {nccl: " + value + "}"}})).software.nccl;
  };
  CHECK(nccl("2.28.3").version == "2.28.3");
  CHECK(nccl("\"2.30\"").version == "2.30");
  const topology::NcclSettings set = nccl("{algo: tree, proto: Simple, max_ctas: 8, nvls: false}");
  CHECK(set.version == topology::NcclSettings{}.version);
  CHECK(set.algorithm == "tree");
  CHECK(set.protocol == "Simple");
  CHECK(set.most_channels == 8);
  CHECK(set.nvls == topology::NcclSettings::Nvls::off);
}

TEST_CASE("hardware can be changed, and the change is what the answer rests on") {
  const Scenario scenario = load_text(scenario_text(
      {{4,
        "  nodes: 2\n  gpu: {memory: 64 GiB, memory_bandwidth: 2 TB/s}\n"
        "  fabric: {kind: fat-tree, oversubscription: 2, nic: 200 Gb/s, nics_per_node: 4}"}}));
  const topology::Node& node = scenario.cluster.node;
  CHECK(node.device.memory_capacity.value == Bytes(64) * (std::int64_t{1} << 30));
  CHECK(node.device.memory_capacity.source.note == "set by cluster.gpu.memory of the scenario");
  CHECK(node.device.memory_bandwidth.value == Bandwidth::gigabytes_per_second(2000));
  CHECK(node.nic_bandwidth.value == Bandwidth::gigabytes_per_second(25));
  CHECK(node.nics.value == 4);
  CHECK(scenario.cluster.fabric == topology::FabricKind::fat_tree);
  CHECK(scenario.cluster.oversubscription == 2);
}

TEST_CASE("models and nodes are read from files beside the scenario and from blocks in it") {
  const TemporaryFolder folder;
  const std::string keys =
      "\"model_type\": \"llama\", \"hidden_size\": 512, \"num_hidden_layers\": 2, "
      "\"num_attention_heads\": 8, \"intermediate_size\": 1024, \"vocab_size\": 1000, "
      "\"odd_key\": 3";
  std::filesystem::create_directory(folder.path() / "tiny");
  folder.write("tiny/config.json", "{" + keys + "}");
  const auto load = [&](const std::map<int, std::string>& lines) {
    return load_scenario(test_data(), folder.write("s.yaml", scenario_text(lines)), {});
  };
  const Scenario named = load({{1, "model: tiny/config.json"}});
  CHECK(named.model.layers == 2);
  CHECK(named.model.name == "tiny");
  CHECK(mentions(named.assumptions, "odd_key"));
  CHECK(load({{1, "model: ./tiny"}}).model.layers == 2);
  CHECK(load({{1,
               "model: {model_type: llama, hidden_size: 512, num_hidden_layers: 3, "
               "num_attention_heads: 8, intermediate_size: 1024, vocab_size: 1000}"}})
            .model.layers == 3);
  std::filesystem::copy(test_data().file("topology/nodes", "dgx-a100.yaml"),
                        folder.path() / "mine.yaml");
  CHECK(load({{3, "  node: mine.yaml"}}).cluster.node.name == "dgx-a100");
}

TEST_CASE("a measurement in any metric becomes a step time") {
  const auto step_time = [](const std::string& measured) {
    return *load_text(scenario_text({{12, "measured: {" + measured + "}"}})).measured->step_time_s;
  };
  const double tokens = 16 * 8192;
  CHECK(step_time("step_time: 9.6 s, tokens_per_second: 1") == 9.6);
  CHECK(step_time("tokens_per_second: 65536") == tokens / 65536);
  CHECK(step_time("tokens_per_second_per_gpu: 4096") == tokens / 65536);
  const double flops = workloads::training_flops_per_token(
      load_text(scenario_text()).model, 8192, workloads::FlopsConvention::full_attention);
  CHECK(step_time("model_flops_per_second_per_gpu: 400 TFLOP/s") ==
        Approx(tokens * flops / (16 * 400e12)));
  CHECK(step_time("mfu: 0.4") == Approx(tokens * flops / (16 * 0.4 * 989.4e12)).epsilon(0.001));
  CHECK(step_time("mfu: 0.4, peak: 500 TFLOP/s") == Approx(tokens * flops / (16 * 0.4 * 500e12)));
  CHECK(step_time("mfu: 0.4, flops_convention: six-n") < step_time("mfu: 0.4"));
}

TEST_CASE("defaults that matter and were left open are told") {
  const std::vector<std::string> notes =
      load_text(scenario_text({{10, ""}, {11, ""}, {12, ""}})).assumptions;
  CHECK(mentions(notes, "(training.micro_batch)"));
  CHECK(mentions(notes, "(training.activation_checkpointing)"));
  CHECK(mentions(notes, "(software.attention)"));
  CHECK(mentions(notes, "(software.compile)"));
  CHECK(mentions(notes, "(software.nccl)"));
  CHECK(mentions(notes, "(cluster.fabric.kind)"));
  const std::vector<std::string> one_node =
      load_text(scenario_text({{4, "  nodes: 1"}, {7, "  shard: 8"}})).assumptions;
  CHECK_FALSE(mentions(one_node, "fabric"));
  CHECK(mentions(load_text(scenario_text({{9, "  sequence_length: 16384"}})).assumptions,
                 "sequences longer than the 8192 positions"));
}

TEST_CASE("scenarios are read from JSON too") {
  const TemporaryFolder folder;
  const std::string file = folder.write(
      "s.json",
      "{\"model\": \"llama3-8b\", \"cluster\": {\"node\": \"dgx-h100\", \"nodes\": 1},\n"
      " \"plan\": {\"strategy\": \"ddp\"}, \"training\": {\"sequence_length\": 2048}}");
  CHECK(load_scenario(test_data(), file, {}).cluster.gpus == 8);
  folder.write("s.json", "{\"model\": \"llama3-8b\",\n \"clutser\": 1}");
  CHECK(complaint_of_file(folder, "s.json") ==
        "s.json:1:1: cluster: is missing\n"
        "s.json:1:1: plan: is missing\n"
        "s.json:1:1: training: is missing\n"
        "s.json:2:2: clutser: is not a known key (did you mean \"cluster\"?)");
}

TEST_CASE("every example scenario loads") {
  int examples = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(test_data().root() / "scenarios" / "examples")) {
    if (entry.path().extension() != ".yaml") continue;
    INFO(entry.path());
    CHECK_NOTHROW(load_scenario(test_data(), entry.path().string(), {}));
    ++examples;
  }
  REQUIRE(examples > 0);
}
