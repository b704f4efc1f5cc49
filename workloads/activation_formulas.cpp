#include "workloads/activation_formulas.hpp"

namespace stepsim::workloads {

double gpt_block_activation_bytes(const GptBlock& block, ActivationSaving saving,
                                  const ActivationSplit& split) {
  const double t = split.tensor_parallel;
  const double h = static_cast<double>(block.hidden);
  const double s = static_cast<double>(block.sequence_length);
  const double sbh = s * static_cast<double>(block.micro_batch) * h;
  if (saving == ActivationSaving::block_inputs) return 2 * sbh / (split.sequence_parallel ? t : 1);
  const double matrices = saving == ActivationSaving::everything
                              ? 5 * static_cast<double>(block.heads) * s / (h * t)
                              : 0;
  // Norms, residuals and dropouts (10) are cut only where the sequence is.
  const double outside = split.sequence_parallel ? 10 / t : 10;
  return sbh * (outside + 24 / t + matrices);
}

double gpt_first_stage_activation_bytes(const GptBlock& block, std::int64_t layers,
                                        std::int64_t stages, std::int64_t virtual_stages,
                                        ActivationSaving saving, const ActivationSplit& split) {
  // 1F1B keeps p micro-batches of L/p layers on its first stage; interleaving adds (p − 1)/(p·v).
  const double p = static_cast<double>(stages);
  const double v = static_cast<double>(virtual_stages);
  const double interleaved = virtual_stages > 1 ? 1 + (p - 1) / (p * v) : 1;
  return gpt_block_activation_bytes(block, saving, split) * static_cast<double>(layers) *
         interleaved;
}

std::int64_t llama_block_activation_bytes(const LlamaBlock& block) {
  const std::int64_t tokens = block.sequence_length * block.micro_batch;
  const std::int64_t queries = block.heads * block.head_dim;
  const std::int64_t keys_and_values = 2 * block.kv_heads * block.head_dim;
  const std::int64_t norms = 8 * block.hidden;
  const std::int64_t attention = 2 * (queries + keys_and_values) + 2 * queries;
  return tokens * (norms + attention + 6 * block.ffn + 4 * block.heads);
}

std::int64_t llama_block_activation_bytes_eager(const LlamaBlock& block) {
  const std::int64_t tokens = block.sequence_length * block.micro_batch;
  return llama_block_activation_bytes(block) + tokens * (2 * block.ffn + 16 * block.hidden);
}

std::int64_t loss_head_peak_bytes(LossHead head, std::int64_t tokens, std::int64_t vocabulary,
                                  int tensor_parallel) {
  switch (head) {
    case LossHead::eager:
      return 14 * tokens * vocabulary;
    case LossHead::fused:
      return 4 * tokens * vocabulary;
    case LossHead::vocabulary_parallel:
      return 6 * tokens * vocabulary / tensor_parallel;
  }
  return 0;
}

double model_state_bytes_per_parameter(ModelStates states, int degree) {
  const double d = degree;
  switch (states) {
    case ModelStates::mixed_precision:
      return 16;
    case ModelStates::megatron_fp16:
      return 20;
    case ModelStates::megatron_bf16:
      return 18;
    case ModelStates::megatron_distributed_fp16:
      return 4 + 16 / d;
    case ModelStates::megatron_distributed_bf16:
      return 6 + 12 / d;
    case ModelStates::megatron_distributed_fp32:
      return 8 + 8 / d;
    case ModelStates::fsdp2_fp32_storage:
      return 16 / d;
    case ModelStates::fsdp2_bf16_storage:
      return 8 / d;
    case ModelStates::zero1:
      return 4 + 12 / d;
    case ModelStates::zero2:
      return 2 + 14 / d;
    case ModelStates::zero3:
      return 16 / d;
  }
  return 0;
}

}  // namespace stepsim::workloads
