#include "workloads/activation_formulas.hpp"

#include "tests/support/catch.hpp"

namespace stepsim::workloads {
namespace {

constexpr double gib = 1073741824.0;

// Korthikanti et al. 2022, figure 1, with the numbers calculon records for it.
struct PublishedModel {
  GptBlock block;
  std::int64_t layers, tensor_parallel, stages, virtual_stages;
  double tensor_parallel_gib, sequence_parallel_selective_gib;
};
const PublishedModel published[] = {
    {{2048, 4, 6144, 64}, 48, 8, 1, 1, 59.25, 9.5625},
    {{2048, 1, 12288, 96}, 96, 8, 8, 3, 66.84375, 12.3515625},
    {{2048, 1, 20480, 128}, 105, 8, 35, 3, 114.0234375, 23.076171875},
    {{2048, 1, 25600, 160}, 128, 8, 64, 1, 131.25, 26.5625},
};

TEST_CASE("activations of the four published GPT models are reproduced exactly") {
  for (const PublishedModel& model : published) {
    const int t = static_cast<int>(model.tensor_parallel);
    const auto stage = [&](ActivationSaving saving, ActivationSplit split) {
      return gpt_first_stage_activation_bytes(model.block, model.layers, model.stages,
                                              model.virtual_stages, saving, split) /
             gib;
    };
    CHECK(stage(ActivationSaving::everything, {t, false}) ==
          Approx(model.tensor_parallel_gib).epsilon(1e-12));
    CHECK(stage(ActivationSaving::no_attention_matrices, {t, true}) ==
          Approx(model.sequence_parallel_selective_gib).epsilon(1e-12));
  }
}

TEST_CASE("one GPU keeps 34 + 5as/h bytes a token and channel, and full recomputation keeps two") {
  const GptBlock block{2048, 1, 4096, 32};
  const double sbh = 2048.0 * 4096.0;
  CHECK(gpt_block_activation_bytes(block, ActivationSaving::everything) ==
        sbh * (34 + 5.0 * 32 * 2048 / 4096));
  CHECK(gpt_block_activation_bytes(block, ActivationSaving::no_attention_matrices) == 34 * sbh);
  CHECK(gpt_block_activation_bytes(block, ActivationSaving::block_inputs) == 2 * sbh);
  CHECK(gpt_block_activation_bytes(block, ActivationSaving::block_inputs, {4, true}) ==
        2 * sbh / 4);
}

TEST_CASE("a Llama 3 8B block at 8192 tokens keeps 1.142 GB") {
  const LlamaBlock block{8192, 1, 4096, 32, 8, 128, 14336};
  const std::int64_t sbh = 8192LL * 4096;
  // q = 1, g = 1/4, f = 3.5 h: (13 + 21) sbh + 4 sba
  CHECK(llama_block_activation_bytes(block) == 34 * sbh + 4LL * 8192 * 32);
  CHECK(llama_block_activation_bytes_eager(block) ==
        llama_block_activation_bytes(block) + 7 * sbh + 16 * sbh);
}

TEST_CASE("the loss head costs 14, 4 or 6/t bytes a logit") {
  CHECK(loss_head_peak_bytes(LossHead::eager, 8192, 128256) == 14LL * 8192 * 128256);
  CHECK(loss_head_peak_bytes(LossHead::fused, 8192, 128256) == 4LL * 8192 * 128256);
  CHECK(loss_head_peak_bytes(LossHead::vocabulary_parallel, 8192, 128256, 8) ==
        6LL * 8192 * 128256 / 8);
}

TEST_CASE("model states of every scheme follow the published table") {
  using enum ModelStates;
  CHECK(model_state_bytes_per_parameter(mixed_precision) == 16);
  CHECK(model_state_bytes_per_parameter(megatron_fp16) == 20);
  CHECK(model_state_bytes_per_parameter(megatron_bf16) == 18);
  CHECK(model_state_bytes_per_parameter(megatron_distributed_fp16, 8) == 4 + 2);
  CHECK(model_state_bytes_per_parameter(megatron_distributed_bf16, 8) == 6 + 1.5);
  CHECK(model_state_bytes_per_parameter(megatron_distributed_fp32, 8) == 8 + 1);
  CHECK(model_state_bytes_per_parameter(fsdp2_fp32_storage, 64) == 0.25);
  CHECK(model_state_bytes_per_parameter(fsdp2_bf16_storage, 64) == 0.125);
  CHECK(model_state_bytes_per_parameter(zero1, 4) == 7);
  CHECK(model_state_bytes_per_parameter(zero2, 4) == 5.5);
  CHECK(model_state_bytes_per_parameter(zero3, 4) == 4);
}

TEST_CASE("Megatron's published weights and optimizer memory is 18 bytes a parameter") {
  // 12·L·h² / (t·p) parameters on a GPU.
  const auto gib_of = [](double layers, double hidden, double gpus) {
    return 12 * layers * hidden * hidden / gpus *
           model_state_bytes_per_parameter(ModelStates::megatron_bf16) / gib;
  };
  CHECK(gib_of(48, 6144, 8) == 45.5625);
  CHECK(gib_of(96, 12288, 64) == 45.5625);
  CHECK(gib_of(105, 20480, 280) == Approx(31.640625).epsilon(1e-12));
  CHECK(gib_of(128, 25600, 512) == Approx(32.958984375).epsilon(1e-12));
}

}  // namespace
}  // namespace stepsim::workloads
