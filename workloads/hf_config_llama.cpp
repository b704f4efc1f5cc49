// Architectures that grew out of Llama: gated MLPs, RMS norms, rotary positions, grouped queries,
// sliding windows. Keys, defaults and the order of modules are those of transformers'
// configuration_*.py and modeling_*.py; internlm2, qwen (the first), exaone and minicpm are those
// of the code published with their checkpoints.

#include "workloads/hf_config_reader.hpp"

namespace stepsim::workloads {

namespace {

/// Fallbacks of keys that old or short files leave out; 0 means that the key must be there.
struct LlamaDefaults {
  bool tied = false;
  std::int64_t head_dim = 0;  // 0: hidden / heads
  const char* activation = "silu";
  MlpKind mlp = MlpKind::gated;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  // 0: as many as heads
  std::int64_t vocabulary = 0;
};

std::int64_t count_or_required(HfReader& reader, const HfReader::Names& names,
                               std::int64_t fallback, std::int64_t most) {
  return fallback > 0 ? reader.count(names, fallback, most) : reader.required_count(names, most);
}

void read_shape(HfReader& reader, Model& model, const LlamaDefaults& defaults) {
  model.hidden = reader.required_count({"hidden_size"}, ShapeLimits::width);
  model.layers = reader.required_count({"num_hidden_layers", "num_layers"}, ShapeLimits::layers);
  model.heads =
      count_or_required(reader, {"num_attention_heads"}, defaults.heads, ShapeLimits::heads);
  read_kv_heads(reader, model, {"num_key_value_heads"},
                defaults.kv_heads > 0 ? defaults.kv_heads : model.heads);
  read_head_dim(reader, model, defaults.head_dim);
  model.ffn = reader.required_count({"intermediate_size"}, ShapeLimits::inner_width);
  model.vocabulary =
      count_or_required(reader, {"vocab_size"}, defaults.vocabulary, ShapeLimits::vocabulary);
  model.max_positions = reader.count({"max_position_embeddings"}, 0, ShapeLimits::positions);
  read_activation(reader, model, {"hidden_act", "hidden_activation", "activation_function"},
                  defaults.activation, defaults.mlp);
  model.tied_embeddings = reader.flag({"tie_word_embeddings"}, defaults.tied);
}

/// Biases of queries, keys, values and the output alike.
void read_attention_bias(HfReader& reader, Model& model, bool fallback) {
  model.qkv_bias = reader.flag({"attention_bias"}, fallback);
  model.attention_output_bias = model.qkv_bias;
}

void use_layer_norm(Model& model, bool bias) {
  model.norm = Norm::layer_norm;
  model.norm_has_bias = bias;
}

void read_rotary_fraction(HfReader& reader, Model& model, double fallback) {
  model.rotary_fraction = reader.number({"partial_rotary_factor", "rope_pct"}, fallback);
  if (model.rotary_fraction <= 0 || model.rotary_fraction > 1) {
    reader.refuse("partial_rotary_factor", "is out of range", "a number above 0, at most 1");
  }
}

void read_llama(HfReader& reader, Model& model) {
  read_shape(reader, model, {});
  read_attention_bias(reader, model, false);
  model.mlp_bias = reader.flag({"mlp_bias"}, false);
}

void read_mistral(HfReader& reader, Model& model) {
  read_shape(reader, model, {});
  read_uniform_window(reader, model, 4096);
}

void read_qwen2(HfReader& reader, Model& model) {
  read_shape(reader, model, {});
  model.qkv_bias = true;
  read_qwen_windows(reader, model);
}

void read_qwen3(HfReader& reader, Model& model) {
  read_shape(reader, model, {.head_dim = 128});
  read_attention_bias(reader, model, false);
  model.query_key_norm = QueryKeyNorm::per_head;
  read_qwen_windows(reader, model);
}

/// The first Qwen: intermediate_size counts gate and up together.
void read_qwen(HfReader& reader, Model& model) {
  read_shape(reader, model, {.head_dim = reader.count({"kv_channels"}, 0, ShapeLimits::head_dim)});
  model.ffn /= 2;
  model.max_positions = reader.count({"seq_length"}, model.max_positions, ShapeLimits::positions);
  const bool biases = !reader.flag({"no_bias"}, true);
  model.qkv_bias = true;
  model.attention_output_bias = biases;
  model.mlp_bias = biases;
  model.fused_qkv = true;
  model.order = ModuleOrder::norm_attention_norm_mlp;
}

void read_gemma(HfReader& reader, Model& model) {
  read_shape(reader, model, {.tied = true, .head_dim = 256, .activation = "gelu_pytorch_tanh"});
  read_attention_bias(reader, model, false);
}

void read_soft_caps(HfReader& reader, Model& model, std::optional<double> attention,
                    std::optional<double> logits) {
  const auto read = [&](const std::string& name, std::optional<double> fallback) {
    return reader.has(name) ? reader.optional_number({name}) : fallback;
  };
  model.attention_soft_cap = read("attn_logit_softcapping", attention);
  model.logit_soft_cap = read("final_logit_softcapping", logits);
}

/// Layers alternate: the even ones have the window.
void read_gemma2(HfReader& reader, Model& model) {
  read_gemma(reader, model);
  model.norm_placement = NormPlacement::around;
  read_window_pattern(reader, model, 4096, 2);
  read_soft_caps(reader, model, 50.0, 30.0);
}

void read_gemma3(HfReader& reader, Model& model) {
  read_shape(reader, model,
             {.tied = true,
              .head_dim = 256,
              .activation = "gelu_pytorch_tanh",
              .heads = 8,
              .kv_heads = 4,
              .vocabulary = 262'208});
  read_attention_bias(reader, model, false);
  model.norm_placement = NormPlacement::around;
  model.query_key_norm = QueryKeyNorm::per_head;
  read_window_pattern(reader, model, 4096, 6);
  read_soft_caps(reader, model, std::nullopt, std::nullopt);
}

void read_phi3(HfReader& reader, Model& model) {
  read_shape(reader, model, {});
  read_rotary_fraction(reader, model, 1);
  read_uniform_window(reader, model, 0);
  model.fused_qkv = true;
  model.fused_gate_up = true;
}

/// phi-1 to phi-2: a parallel block with one norm, biases everywhere.
void read_phi(HfReader& reader, Model& model) {
  read_shape(reader, model, {.activation = "gelu_new", .mlp = MlpKind::plain});
  read_rotary_fraction(reader, model, 0.5);
  reader.refuse_flag("qk_layernorm",
                     "is on, and norms of queries and keys in phi are not modelled");
  use_layer_norm(model, true);
  model.qkv_bias = model.attention_output_bias = model.mlp_bias = model.head_bias = true;
  model.parallel_block = true;
  model.norm_placement = NormPlacement::shared;
}

void read_stablelm(HfReader& reader, Model& model) {
  read_shape(reader, model, {});
  read_rotary_fraction(reader, model, 0.25);
  use_layer_norm(model, true);
  model.qkv_bias = reader.flag({"use_qkv_bias"}, false);
  if (reader.flag({"qk_layernorm"}, false)) model.query_key_norm = QueryKeyNorm::full_width;
  model.parallel_block = reader.flag({"use_parallel_residual"}, false);
  if (model.parallel_block) model.norm_placement = NormPlacement::shared;
}

void read_starcoder2(HfReader& reader, Model& model) {
  read_shape(reader, model,
             {.tied = true, .activation = "gelu_pytorch_tanh", .mlp = MlpKind::plain});
  read_uniform_window(reader, model, 0);
  use_layer_norm(model, true);
  model.qkv_bias = reader.flag({"use_bias"}, true);
  model.attention_output_bias = model.mlp_bias = model.qkv_bias;
}

void read_olmo(HfReader& reader, Model& model) {
  read_shape(reader, model, {});
  read_attention_bias(reader, model, false);
  use_layer_norm(model, false);
  model.norm_has_weight = false;
  model.clips_qkv = reader.optional_number({"clip_qkv"}).has_value();
}

void read_olmo2(HfReader& reader, Model& model) {
  read_shape(reader, model, {});
  read_attention_bias(reader, model, false);
  model.norm_placement = NormPlacement::after;
  model.query_key_norm = QueryKeyNorm::full_width;
}

void read_olmo3(HfReader& reader, Model& model) {
  read_olmo2(reader, model);
  read_window_pattern(reader, model, 4096, 4);
}

void read_cohere(HfReader& reader, Model& model) {
  read_shape(reader, model, {.tied = true});
  read_attention_bias(reader, model, false);
  use_layer_norm(model, false);
  if (reader.flag({"use_qk_norm"}, false)) model.query_key_norm = QueryKeyNorm::full_width;
  model.parallel_block = true;
  model.norm_placement = NormPlacement::shared;
}

/// Three layers with a window and rotary positions, one without either.
void read_cohere2(HfReader& reader, Model& model) {
  read_cohere(reader, model);
  read_window_pattern(reader, model, 4096, 4);
  for (AttentionSpan& span : model.spans) span.rotary = span.window.has_value();
}

void read_internlm(HfReader& reader, Model& model) {
  read_shape(reader, model, {});
  model.qkv_bias = model.attention_output_bias = reader.flag({"bias"}, true);
}

void read_internlm2(HfReader& reader, Model& model) {
  read_shape(reader, model, {});
  model.qkv_bias = model.attention_output_bias = reader.flag({"bias"}, true);
  model.fused_qkv = true;
}

void read_internlm3(HfReader& reader, Model& model) {
  read_shape(reader, model, {});
  model.qkv_bias = reader.flag({"qkv_bias"}, false);
  model.attention_output_bias = model.mlp_bias = reader.flag({"bias"}, false);
}

void read_minicpm(HfReader& reader, Model& model) {
  read_shape(reader, model, {.tied = true});
  read_attention_bias(reader, model, false);
}

/// no_rope_layers has a 1 for each layer with rotary positions.
void read_smollm3(HfReader& reader, Model& model) {
  read_shape(reader, model, {.tied = true, .kv_heads = 4});
  read_attention_bias(reader, model, false);
  model.mlp_bias = reader.flag({"mlp_bias"}, false);
  const std::int64_t interval = reader.count({"no_rope_layer_interval"}, 4, ShapeLimits::layers);
  const std::vector<std::int64_t> rotary = reader.integers("no_rope_layers");
  const bool windows = reader.flag({"use_sliding_window"}, false);
  const std::optional<std::int64_t> window = read_window(reader, 0);
  read_layer_types(reader, model, windows ? window : std::nullopt);
  model.spans.resize(static_cast<std::size_t>(model.layers));
  for (std::size_t i = 0; i < model.spans.size(); ++i) {
    const bool by_interval = (static_cast<std::int64_t>(i) + 1) % interval != 0;
    model.spans[i].rotary = i < rotary.size() ? rotary[i] != 0 : by_interval;
  }
}

void read_nemotron(HfReader& reader, Model& model) {
  read_shape(reader, model, {.activation = "relu2", .mlp = MlpKind::plain});
  read_rotary_fraction(reader, model, 0.5);
  read_attention_bias(reader, model, false);
  model.mlp_bias = reader.flag({"mlp_bias"}, false);
  use_layer_norm(model, true);
}

void read_arcee(HfReader& reader, Model& model) {
  read_shape(reader, model, {.activation = "relu2", .mlp = MlpKind::plain});
  read_attention_bias(reader, model, false);
  model.mlp_bias = reader.flag({"mlp_bias"}, false);
}

void read_glm(HfReader& reader, Model& model) {
  read_shape(reader, model, {.head_dim = 128});
  read_rotary_fraction(reader, model, 0.5);
  model.qkv_bias = reader.flag({"attention_bias"}, true);
  model.fused_gate_up = true;
}

void read_glm4(HfReader& reader, Model& model) {
  read_glm(reader, model);
  model.norm_placement = NormPlacement::around;
}

void read_seed_oss(HfReader& reader, Model& model) {
  read_shape(reader, model, {.head_dim = 128});
  model.qkv_bias = reader.flag({"attention_bias"}, true);
  model.attention_output_bias = reader.flag({"attention_out_bias"}, false);
  model.mlp_bias = reader.flag({"mlp_bias"}, false);
}

void read_ernie(HfReader& reader, Model& model) {
  read_shape(reader, model, {.tied = true});
  model.qkv_bias = reader.flag({"use_bias"}, false);
  model.attention_output_bias = model.mlp_bias = model.qkv_bias;
}

void read_hunyuan(HfReader& reader, Model& model) {
  read_shape(reader, model, {});
  read_attention_bias(reader, model, false);
  model.query_key_norm = QueryKeyNorm::per_head;
}

void read_exaone(HfReader& reader, Model& model) {
  read_shape(reader, model, {.tied = true});
  model.order = ModuleOrder::norm_attention_norm_mlp;
}

/// One letter a layer, repeating: L has the window, G the whole past.
void read_window_letters(HfReader& reader, Model& model, const DocumentNode* pattern,
                         std::int64_t window) {
  const std::string letters = pattern != nullptr ? pattern->text : "LLLG";
  if (letters.find_first_not_of("LG") != std::string::npos || letters.empty()) {
    return reader.refuse("sliding_window_pattern", "is not a pattern of layers", "such as LLLG");
  }
  for (const char letter : letters) {
    model.spans.push_back(letter == 'L' ? AttentionSpan{window, true} : AttentionSpan{});
  }
}

/// When there are windows, only the layers that have one have rotary positions.
void read_exaone4(HfReader& reader, Model& model) {
  read_shape(reader, model, {});
  model.norm_placement = NormPlacement::after;
  model.query_key_norm = QueryKeyNorm::per_head;
  const DocumentNode* pattern = reader.take({"sliding_window_pattern"});
  const std::optional<std::int64_t> window = read_window(reader, 4096);
  const bool listed = read_layer_types(reader, model, window);
  if (!window) return;
  if (!listed) read_window_letters(reader, model, pattern, *window);
  for (AttentionSpan& span : model.spans) span.rotary = span.window.has_value();
}

}  // namespace

const std::vector<HfFamily>& llama_families() {
  static const std::vector<HfFamily> families = {
      {"arcee", read_arcee},
      {"cohere", read_cohere},
      {"cohere2", read_cohere2},
      {"ernie4_5", read_ernie},
      {"exaone", read_exaone},
      {"exaone4", read_exaone4},
      {"gemma", read_gemma},
      {"gemma2", read_gemma2},
      {"gemma3_text", read_gemma3},
      {"glm", read_glm},
      {"glm4", read_glm4},
      {"granite", read_llama},
      {"hunyuan_v1_dense", read_hunyuan},
      {"internlm", read_internlm},
      {"internlm2", read_internlm2},
      {"internlm3", read_internlm3},
      {"llama", read_llama},
      {"minicpm", read_minicpm},
      {"mistral", read_mistral},
      {"nemotron", read_nemotron},
      {"olmo", read_olmo},
      {"olmo2", read_olmo2},
      {"olmo3", read_olmo3},
      {"phi", read_phi},
      {"phi3", read_phi3},
      {"qwen", read_qwen},
      {"qwen2", read_qwen2},
      {"qwen3", read_qwen3},
      {"seed_oss", read_seed_oss},
      {"smollm3", read_smollm3},
      {"stablelm", read_stablelm},
      {"stablelm_epoch", read_stablelm},
      {"starcoder2", read_starcoder2},
  };
  return families;
}

}  // namespace stepsim::workloads
