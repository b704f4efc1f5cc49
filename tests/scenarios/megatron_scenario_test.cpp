#include "scenarios/scenario.hpp"
#include "scenarios/simulate.hpp"

#include "tests/scenarios/scenario_text.hpp"
#include "tests/support/catch.hpp"

#include <string>

namespace stepsim::scenarios {
namespace {

/// A scenario of Llama 3 8B on 16 GPUs with this plan, in one line, and this training.
std::string text(const std::string& plan, const std::string& training = "global_batch: 16") {
  return "model: llama3-8b\ncluster: { node: dgx-h100, nodes: 2 }\nplan: { strategy: megatron, " +
         plan + " }\ntraining: { sequence_length: 2048, " + training + " }\n";
}

TEST_CASE("Megatron-LM's degrees are filled in, and its defaults are its own") {
  const Scenario scenario = load_text(text("tp: 2, pp: 4"));
  CHECK(scenario.plan.replicate == 2);
  CHECK(scenario.plan.schedule == workloads::PipelineSchedule::one_f_one_b);
  CHECK_FALSE(scenario.plan.sequence_parallel);
  CHECK_FALSE(scenario.plan.distributed_optimizer);
  CHECK_FALSE(scenario.plan.overlap_grad_reduce);
  CHECK(scenario.plan.rank_order == "tp-cp-ep-dp-pp");
}

TEST_CASE("the effective configuration of a Megatron plan loads to the same plan") {
  for (const char* plan :
       {"tp: 2, sequence_parallel: true, pp: 4, schedule: interleaved, virtual_stages: 2, "
        "distributed_optimizer: true, overlap_grad_reduce: true, overlap_param_gather: true",
        "pp: 4, schedule: zb1p, stage_layers: [7, 9, 9, 7], rank_order: pp-tp-dp",
        "tp: 8, overlap_grad_reduce: true, bucket_size: 100 MB"}) {
    CAPTURE(plan);
    const Scenario scenario = load_text(text(plan));
    const std::string effective = effective_configuration(scenario);
    CHECK(effective_configuration(load_text(effective)) == effective);
    CHECK(load_text(effective).plan.stage_layers == scenario.plan.stage_layers);
  }
}

TEST_CASE("plans that Megatron-LM refuses are refused with its reason, where they stand") {
  const auto check = [](const std::string& plan, const std::string& complaint_text,
                        const std::string& training = "global_batch: 16") {
    CAPTURE(plan);
    CHECK(complaint(text(plan, training)).find(complaint_text) == 0);
  };
  check("tp: 3", "s.yaml:3:33: plan.tp: tp 3 times pp 1 is 3, which does not divide 16 GPUs");
  check("tp: 2, pp: 2, replicate: 3",
        "s.yaml:3:54: plan.replicate: tp 2 times pp 2 is 4, times replicate 3 is 12 ranks, but the "
        "cluster has 16 GPUs (expected a product of 16) (did you mean \"4\"?)");
  check("pp: 16, replicate: 1, schedule: interleaved, virtual_stages: 3",
        "s.yaml:3:33: plan.pp: 32 layers (32) do not divide into 48 pipeline stages");
  check("pp: 4, schedule: interleaved",
        "s.yaml:3:46: plan.schedule: interleaved needs at least 2 virtual stages a rank");
  check("pp: 4, schedule: interleaved, virtual_stages: 1",
        "s.yaml:3:75: plan.virtual_stages: interleaved needs at least 2 virtual stages a rank");
  check("pp: 4, virtual_stages: 2",
        "s.yaml:3:52: plan.virtual_stages: is 2 with schedule 1f1b (expected schedule: "
        "interleaved)");
  check("schedule: gpipe", "s.yaml:3:39: plan.schedule: is gpipe without a pipeline: pp is 1");
  check("pp: 4, schedule: interleaved, virtual_stages: 2",
        "s.yaml:4:50: training.global_batch: interleaved needs a number of micro-batches (6) "
        "divisible by pp (4)",
        "global_batch: 24");
  check(
      "pp: 4, schedule: dualpipev",
      "s.yaml:4:50: training.global_batch: dualpipev over 4 ranks needs at least 8 micro-batches");
  check("pp: 4, stage_layers: [16, 0, 8, 8]",
        "s.yaml:3:55: plan.stage_layers[1]: is 0 (expected a whole number from 1 to 10000)");
  check("pp: 4, stage_layers: [8, 8, 8]",
        "s.yaml:3:50: plan.stage_layers: lists 3 stages, there are 4");
  check("pp: 4, stage_layers: [8, 8, 8, 9]",
        "s.yaml:3:50: plan.stage_layers: adds up to 33 layers, the model has 32");
  check("pp: 4, embedding_as_layer: true",
        "s.yaml:3:33: plan.pp: 32 layers and the embedding (33) do not divide into 4 pipeline "
        "stages");
  check("overlap_param_gather: true",
        "s.yaml:3:51: plan.overlap_param_gather: overlap_param_gather is only supported with "
        "distributed_optimizer");
  check("overlap_param_gather: true, distributed_optimizer: true",
        "s.yaml:3:51: plan.overlap_param_gather: overlap_param_gather is only supported with "
        "overlap_grad_reduce");
  check("bucket_size: 1 GB", "s.yaml:3:42: plan.bucket_size: without overlap_grad_reduce");
  check("sequence_parallel: true", "s.yaml:3:48: plan.sequence_parallel: sequence_parallel is on");
  check("rank_order: tp-pp", "s.yaml:3:41: plan.rank_order: has to name dp once");
  check("shard: 4", "s.yaml:3:36: plan.shard: makes no sense with strategy: megatron");
  CHECK(complaint("model: llama3-8b\ncluster: { node: dgx-h100, nodes: 2 }\nplan: { strategy: "
                  "megatron, tp: 8, sequence_parallel: true }\n"
                  "training: { sequence_length: 2047, global_batch: 16 }\n")
            .find("s.yaml:4:30: training.sequence_length: is 2047, which sequence_parallel cannot "
                  "divide by tp 8") == 0);
}

TEST_CASE("heads that tensor ranks cannot share are refused") {
  CHECK(complaint("model: gpt2-1.5b\ncluster: { node: dgx-h100, nodes: 1 }\nplan: { strategy: "
                  "megatron, tp: 8 }\ntraining: { sequence_length: 1024 }\n")
            .find("s.yaml:3:33: plan.tp: num_attention_heads (25) must be a multiple of "
                  "tensor_model_parallel_size (8)") == 0);
}

TEST_CASE("recomputation of Megatron-LM is core attention or whole blocks") {
  const auto load = [](const std::string& kind) {
    return load_text(text("tp: 8", "activation_checkpointing: " + kind));
  };
  CHECK(load("selective").training.selective_policy == workloads::SelectivePolicy::core_attention);
  CHECK_FALSE(load("full").training.checkpoint_early_stop);
  CHECK(complaint(text("tp: 8", "activation_checkpointing: {kind: selective, policy: op}"))
            .find("is op, which Megatron-LM does not have") != std::string::npos);
}

TEST_CASE("a step of Megatron-LM is no faster than its arithmetic and its messages allow") {
  for (const char* plan :
       {"tp: 2, pp: 4", "tp: 8, sequence_parallel: true",
        "pp: 4, schedule: interleaved, virtual_stages: 2",
        "tp: 2, pp: 2, distributed_optimizer: true, overlap_grad_reduce: true"}) {
    CAPTURE(plan);
    const Scenario scenario = load_text(text(plan, "global_batch: 32"));
    const StepResult result = simulate_step(test_data(), scenario);
    CHECK(result.mfu < 1);
    CHECK(result.hfu >= result.mfu * 0.99);
    for (const sim::GroupUse& use : result.time_line.communication)
      CHECK(use.busy <= result.step_time);
    CHECK(result.memory.stages.size() == static_cast<std::size_t>(scenario.plan.pp));
    CHECK(result.time_line.compute + result.time_line.bubble + result.time_line.exposed +
              result.time_line.idle ==
          result.step_time);
  }
}

}  // namespace
}  // namespace stepsim::scenarios
