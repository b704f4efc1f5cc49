// What is known of keys that no architecture's reader asks for.

#include "workloads/hf_config_reader.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace stepsim::workloads {

namespace {

/// Sorted. Identity, tokens, number formats (the scenario's precision decides), initialisation,
/// epsilons, rotary frequencies and scalars that fold into a neighbouring kernel, generation and
/// caching, classification heads, how a checkpoint was made. Dropout is listed when it is used, not
/// here: it would add kernels.
constexpr std::array irrelevant = std::to_array<std::string_view>({
    "_attn_implementation",
    "_attn_implementation_autoset",
    "_commit_hash",
    "_name_or_path",
    "add_bos_token",
    "alibi_bias_max",
    "apply_residual_connection_post_layernorm",
    "architectures",
    "attention_head_size",
    "attention_multiplier",
    "attention_softmax_in_fp32",
    "attn_impl",
    "attn_implementation",
    "attn_temperature_tuning",
    "auto_map",
    "bad_words_ids",
    "begin_suppress_tokens",
    "bias_dropout_fusion",
    "bos_token_id",
    "cache_implementation",
    "chunk_size_feed_forward",
    "classifier_dropout",
    "context_window_size",
    "decoder_start_token_id",
    "dim_model_base",
    "diversity_penalty",
    "do_sample",
    "dtype",
    "early_stopping",
    "embedding_multiplier",
    "eos_token_id",
    "finetuning_task",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "gradient_checkpointing",
    "id2label",
    "init_config",
    "init_device",
    "init_std",
    "initializer_cutoff_factor",
    "initializer_range",
    "is_decoder",
    "is_encoder_decoder",
    "keys_to_ignore_at_inference",
    "label2id",
    "layer_norm_eps",
    "layer_norm_epsilon",
    "length_penalty",
    "logit_scale",
    "logits_scaling",
    "long_factor",
    "masked_softmax_fusion",
    "max_length",
    "max_new_tokens",
    "min_length",
    "model_type",
    "mup_width_scale",
    "n_ctx",
    "name",
    "no_repeat_ngram_size",
    "norm_eps",
    "norm_epsilon",
    "num_beam_groups",
    "num_beams",
    "num_return_sequences",
    "offset_alibi",
    "onnx_safe",
    "original_max_position_embeddings",
    "output_attentions",
    "output_hidden_states",
    "output_router_logits",
    "output_scores",
    "pad_token_id",
    "prefill_chunk_size",
    "prefix",
    "pretraining_tp",
    "problem_type",
    "query_pre_attn_scalar",
    "remove_invalid_values",
    "reorder_and_upcast_attn",
    "repetition_penalty",
    "residual_multiplier",
    "return_dict",
    "return_dict_in_generate",
    "rms_norm_eps",
    "rope_local_base_freq",
    "rope_parameters",
    "rope_ratio",
    "rope_scaling",
    "rope_theta",
    "rotary_emb_base",
    "router_aux_loss_coef",
    "scale_attention_softmax_in_fp32",
    "scale_attn_by_inverse_layer_idx",
    "scale_attn_weights",
    "scale_depth",
    "scale_emb",
    "sep_token_id",
    "skip_bias_add",
    "skip_bias_add_qkv",
    "slow_but_exact",
    "softmax_scale",
    "summary_activation",
    "summary_first_dropout",
    "summary_proj_to_labels",
    "summary_type",
    "summary_use_proj",
    "suppress_tokens",
    "task_specific_params",
    "temperature",
    "tf_legacy_loss",
    "tie_encoder_decoder",
    "tokenizer_class",
    "tokenizer_name",
    "top_k",
    "top_p",
    "torch_dtype",
    "torchscript",
    "transformers_version",
    "typical_p",
    "unk_token_id",
    "use_bfloat16",
    "use_cache",
    "use_dynamic_ntk",
    "use_flash_attn",
    "use_logn_attn",
    "validate_runner_input",
    "verbose",
});
static_assert(std::is_sorted(irrelevant.begin(), irrelevant.end()));

using Reason = std::pair<std::string_view, std::string_view>;
constexpr std::string_view experts = "mixture of experts is not modelled";

constexpr std::array unmodelled = std::to_array<Reason>({
    {"add_cross_attention", "cross-attention is not modelled"},
    {"attention_chunk_size", "chunked attention is not modelled"},
    {"cross_attention_layers", "cross-attention is not modelled"},
    {"index_topk", "sparse attention is not modelled"},
    {"is_encoder_decoder", "encoder-decoder models are not modelled"},
    {"kv_lora_rank", "latent attention (MLA) is not modelled"},
    {"moe_num_experts", experts},
    {"n_routed_experts", experts},
    {"num_experts", experts},
    {"num_local_experts", experts},
    {"num_moe_experts", experts},
    {"num_nextn_predict_layers", "multi-token prediction layers are not modelled"},
});

}  // namespace

bool is_irrelevant_key(std::string_view key) {
  return std::binary_search(irrelevant.begin(), irrelevant.end(), key);
}

std::string_view unmodelled_reason(std::string_view key) {
  for (const Reason& reason : unmodelled) {
    if (reason.first == key) return reason.second;
  }
  return {};
}

}  // namespace stepsim::workloads
