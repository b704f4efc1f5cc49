#pragma once

/// Closed forms for what a step keeps in memory: activations of GPT and Llama blocks, the loss
/// head, and model states. The simulator allocates buffers one by one; these say what they must sum
/// to. Symbols as in the sources: s sequence length, b micro-batch, h hidden, a heads, L layers, t
/// tensor parallel, p pipeline stages, v virtual stages.

#include <cstdint>

namespace stepsim::workloads {

/// A GPT block with dropout and 2-byte activations (Korthikanti et al. 2022, arXiv 2205.05198).
struct GptBlock {
  std::int64_t sequence_length = 0;
  std::int64_t micro_batch = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
};

enum class ActivationSaving {
  everything,             // attention matrices written out
  no_attention_matrices,  // selective recomputation, or flash attention
  block_inputs,           // full recomputation
};

struct ActivationSplit {
  int tensor_parallel = 1;
  bool sequence_parallel = false;
};

/// Bytes a block keeps for backward: s·b·h·(34 + 5·a·s/h) and its variants.
double gpt_block_activation_bytes(const GptBlock& block, ActivationSaving saving,
                                  const ActivationSplit& split = {});

/// Bytes of the first pipeline stage under 1F1B (v = 1) or its interleaved form.
double gpt_first_stage_activation_bytes(const GptBlock& block, std::int64_t layers,
                                        std::int64_t stages, std::int64_t virtual_stages,
                                        ActivationSaving saving, const ActivationSplit& split);

/// A Llama block: RMSNorm, grouped-query flash attention, SwiGLU, no dropout, 2-byte activations.
struct LlamaBlock {
  std::int64_t sequence_length = 0;
  std::int64_t micro_batch = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t ffn = 0;
};

/// s·b·h·(8 + q·(4 + 4g)) + 6·s·b·f + 4·s·b·a with q = a·head_dim / h and g = kv_heads / a: norm
/// inputs and outputs, Q, K, V, attention output and its log-sum-exp, gate, up and their product.
/// The two norms' reciprocal deviations (8·s·b) are not in it.
std::int64_t llama_block_activation_bytes(const LlamaBlock& block);

/// The same without fusion: silu(gate) kept as well (2·s·b·f), and 8·s·b·h for each norm that
/// computes in fp32 op by op.
std::int64_t llama_block_activation_bytes_eager(const LlamaBlock& block);

enum class LossHead { eager, fused, vocabulary_parallel };

/// Peak bytes of logits and what the loss makes of them: 14·s·b·V op by op (bf16 logits, fp32
/// log-probabilities, two fp32 gradients), 4·s·b·V fused, 6·s·b·V / t vocabulary-parallel.
std::int64_t loss_head_peak_bytes(LossHead head, std::int64_t tokens, std::int64_t vocabulary,
                                  int tensor_parallel = 1);

enum class ModelStates {
  mixed_precision,  // 2 weight, 2 gradient, 12 optimizer (Rajbhandari et al. 2020)
  megatron_fp16,    // fp16 gradients and fp32 accumulation
  megatron_bf16,    // bf16 with fp32 main gradients
  megatron_distributed_fp16,
  megatron_distributed_bf16,
  megatron_distributed_fp32,
  fsdp2_fp32_storage,  // fp32 shards and Adam moments, computing in bf16
  fsdp2_bf16_storage,  // everything bf16
  zero1,
  zero2,
  zero3,
};

/// Bytes a parameter of one rank's weights, gradients and Adam states, cut over `degree` ranks.
/// Working sets (unsharded groups) are not in it.
double model_state_bytes_per_parameter(ModelStates states, int degree = 1);

}  // namespace stepsim::workloads
