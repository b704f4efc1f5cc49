// Architectures that grew out of GPT-2: plain MLPs, layer norms, biases, learned or ALiBi
// positions, and the parallel blocks of GPT-J and GPT-NeoX. Keys, defaults and the order of modules
// are those of transformers' configuration_*.py and modeling_*.py, and of llm-foundry for MPT.

#include "workloads/hf_config_reader.hpp"

#include <algorithm>
#include <cmath>

namespace stepsim::workloads {

namespace {

void use_biases(Model& model, bool biases) {
  model.qkv_bias = biases;
  model.attention_output_bias = biases;
  model.mlp_bias = biases;
}

void use_layer_norm(Model& model, bool bias) {
  model.norm = Norm::layer_norm;
  model.norm_has_bias = bias;
}

void read_size(HfReader& reader, Model& model) {
  model.hidden =
      reader.required_count({"hidden_size", "n_embd", "n_embed", "d_model"}, ShapeLimits::width);
  model.layers = reader.required_count({"num_hidden_layers", "n_layer", "num_layers", "n_layers"},
                                       ShapeLimits::layers);
  model.heads = reader.required_count({"num_attention_heads", "n_head", "num_heads", "n_heads"},
                                      ShapeLimits::heads);
  model.kv_heads = model.heads;
  model.vocabulary = reader.required_count({"vocab_size"}, ShapeLimits::vocabulary);
}

/// Rows of the position table as given; `extra` rows come before the first position.
void read_learned_positions(HfReader& reader, Model& model, const HfReader::Names& names,
                            std::int64_t extra) {
  model.positions = Positions::learned;
  model.max_positions = reader.required_count(names, ShapeLimits::positions);
  model.position_rows = model.max_positions + extra;
}

void read_inner_width(HfReader& reader, Model& model, const HfReader::Names& names) {
  model.ffn = reader.count(names, 4 * model.hidden, ShapeLimits::inner_width);
}

void read_tied(HfReader& reader, Model& model, bool fallback) {
  model.tied_embeddings = reader.flag({"tie_word_embeddings"}, fallback);
}

void read_gpt2(HfReader& reader, Model& model) {
  read_size(reader, model);
  read_head_dim(reader, model, 0);
  read_inner_width(reader, model, {"n_inner", "intermediate_size"});
  read_learned_positions(reader, model, {"n_positions", "max_position_embeddings", "n_ctx"}, 0);
  read_activation(reader, model, {"activation_function"}, "gelu_new", MlpKind::plain);
  read_tied(reader, model, true);
  use_layer_norm(model, true);
  use_biases(model, true);
  model.fused_qkv = true;
  model.order = ModuleOrder::norm_attention_norm_mlp;
}

void read_gpt_bigcode(HfReader& reader, Model& model) {
  read_gpt2(reader, model);
  if (reader.flag({"multi_query"}, true)) model.kv_heads = 1;
}

/// attention_types is [[["global", "local"], 12]]: a pattern and how often it repeats.
void read_gpt_neo_spans(HfReader& reader, Model& model) {
  const std::int64_t window = reader.count({"window_size"}, 256, ShapeLimits::positions);
  const DocumentNode* types = reader.take({"attention_types"});
  reader.take({"attention_layers"});
  const auto malformed = [&] {
    reader.refuse("attention_types", "is not a list of patterns",
                  "such as [[[\"global\", \"local\"], 12]]");
  };
  if (types == nullptr) {
    model.spans = {AttentionSpan{}, AttentionSpan{window, true}};
    return;
  }
  if (!types->is_list() || types->items.size() != 1) return malformed();
  const DocumentNode& group = types->items.front();
  if (!group.is_list() || group.items.size() != 2 || !group.items.front().is_list()) {
    return malformed();
  }
  for (const DocumentNode& kind : group.items.front().items) {
    if (kind.text != "global" && kind.text != "local") return malformed();
    model.spans.push_back(kind.text == "local" ? AttentionSpan{window, true} : AttentionSpan{});
  }
}

void read_gpt_neo(HfReader& reader, Model& model) {
  read_size(reader, model);
  read_head_dim(reader, model, 0);
  read_inner_width(reader, model, {"intermediate_size"});
  read_learned_positions(reader, model, {"max_position_embeddings"}, 0);
  read_activation(reader, model, {"activation_function"}, "gelu_new", MlpKind::plain);
  read_gpt_neo_spans(reader, model);
  read_tied(reader, model, true);
  use_layer_norm(model, true);
  use_biases(model, true);
  model.qkv_bias = false;
  model.order = ModuleOrder::norm_attention_norm_mlp;
}

void read_rotary_width(HfReader& reader, Model& model, const std::string& name,
                       std::int64_t fallback) {
  const std::int64_t width = reader.count({name}, fallback, ShapeLimits::head_dim);
  if (model.head_dim > 0) {
    model.rotary_fraction =
        std::min(1.0, static_cast<double>(width) / static_cast<double>(model.head_dim));
  }
}

void read_gptj(HfReader& reader, Model& model) {
  read_size(reader, model);
  read_head_dim(reader, model, 0);
  read_inner_width(reader, model, {"n_inner", "intermediate_size"});
  model.max_positions = reader.count({"n_positions", "n_ctx"}, 2048, ShapeLimits::positions);
  read_rotary_width(reader, model, "rotary_dim", 64);
  read_activation(reader, model, {"activation_function"}, "gelu_new", MlpKind::plain);
  read_tied(reader, model, false);
  use_layer_norm(model, true);
  model.mlp_bias = true;
  model.head_bias = true;
  model.parallel_block = true;
  model.norm_placement = NormPlacement::shared;
  model.order = ModuleOrder::norm_attention_norm_mlp;
}

void read_codegen(HfReader& reader, Model& model) {
  read_gptj(reader, model);
  model.fused_qkv = true;
}

void read_gpt_neox(HfReader& reader, Model& model) {
  read_size(reader, model);
  read_head_dim(reader, model, 0);
  read_inner_width(reader, model, {"intermediate_size"});
  model.max_positions = reader.count({"max_position_embeddings"}, 2048, ShapeLimits::positions);
  model.rotary_fraction = reader.number({"rotary_pct", "partial_rotary_factor"}, 0.25);
  read_activation(reader, model, {"hidden_act"}, "gelu", MlpKind::plain);
  model.parallel_block = reader.flag({"use_parallel_residual"}, true);
  read_tied(reader, model, false);
  use_layer_norm(model, true);
  use_biases(model, reader.flag({"attention_bias"}, true));
  model.mlp_bias = true;
  model.fused_qkv = true;
  model.order = ModuleOrder::norms_attention_mlp;
}

void read_opt(HfReader& reader, Model& model) {
  read_size(reader, model);
  read_head_dim(reader, model, 0);
  model.ffn = reader.required_count({"ffn_dim"}, ShapeLimits::inner_width);
  read_learned_positions(reader, model, {"max_position_embeddings"}, 2);
  read_activation(reader, model, {"activation_function"}, "relu", MlpKind::plain);
  const std::int64_t width =
      reader.count({"word_embed_proj_dim"}, model.hidden, ShapeLimits::width);
  if (width != model.hidden) model.embedding_width = width;
  const bool norm_first = reader.flag({"do_layer_norm_before"}, true);
  model.norm_placement = norm_first ? NormPlacement::before : NormPlacement::after;
  const bool removed = reader.flag({"_remove_final_layer_norm"}, false);
  model.final_norm = norm_first && !removed;
  read_tied(reader, model, true);
  use_layer_norm(model, true);
  model.norm_has_weight = reader.flag({"layer_norm_elementwise_affine"}, true);
  use_biases(model, reader.flag({"enable_bias"}, true));
  model.order = ModuleOrder::attention_norm_mlp_norm;
}

void read_bloom(HfReader& reader, Model& model) {
  read_size(reader, model);
  read_head_dim(reader, model, 0);
  read_inner_width(reader, model, {"n_inner", "intermediate_size"});
  model.max_positions = reader.count({"seq_length"}, 2048, ShapeLimits::positions);
  read_tied(reader, model, true);
  use_layer_norm(model, true);
  use_biases(model, true);
  model.activation = Activation::gelu;
  model.positions = Positions::alibi;
  model.embedding_norm = true;
  model.fused_qkv = true;
  model.order = ModuleOrder::norm_attention_norm_mlp;
}

/// Falcon 7B shares one norm and one key-value head; 40B and 180B have two norms and groups; the
/// 11B is of the new kind with one norm.
void read_falcon_kind(HfReader& reader, Model& model, bool grouped_fallback) {
  read_size(reader, model);
  read_head_dim(reader, model, 0);
  const bool grouped = reader.flag({"new_decoder_architecture"}, grouped_fallback);
  const bool multi_query = reader.flag({"multi_query"}, true);
  const std::int64_t shared = multi_query && !grouped ? 1 : model.heads;
  read_kv_heads(reader, model, {"num_kv_heads", "n_head_kv", "num_key_value_heads"}, shared);
  if (!grouped) model.kv_heads = shared;  // the count is used by the new kind only
  read_inner_width(reader, model, {"ffn_hidden_size"});
  read_activation(reader, model, {"activation"}, "gelu", MlpKind::plain);
  const bool parallel = reader.flag({"parallel_attn"}, true);
  model.parallel_block = grouped || parallel;
  const std::int64_t norms = reader.count({"num_ln_in_parallel_attn"}, grouped ? 2 : 1, 2);
  model.norm_placement =
      model.parallel_block && norms == 1 ? NormPlacement::shared : NormPlacement::before;
  model.max_positions = reader.count({"max_position_embeddings"}, 2048, ShapeLimits::positions);
  if (reader.flag({"alibi"}, false)) model.positions = Positions::alibi;
  use_biases(model, reader.flag({"bias"}, false));
  read_tied(reader, model, true);
  use_layer_norm(model, true);
  model.fused_qkv = true;
}

void read_falcon(HfReader& reader, Model& model) { read_falcon_kind(reader, model, false); }

/// falcon-40b before transformers knew it: always of the new kind, without the key that says so.
void read_refined_web(HfReader& reader, Model& model) { read_falcon_kind(reader, model, true); }

void read_mpt_attention(HfReader& reader, Model& model) {
  const DocumentNode* block = reader.take({"attn_config"});
  if (block == nullptr) {
    model.positions = Positions::alibi;  // transformers' MptAttentionConfig
    return;
  }
  HfReader attention(*block, reader.path_of("attn_config"), reader.context());
  const std::string type = attention.word({"attn_type"}, "multihead_attention");
  read_kv_heads(attention, model, {"kv_n_heads"}, type == "multiquery_attention" ? 1 : model.heads);
  const bool alibi = attention.flag({"alibi"}, true);
  const bool rotary = attention.flag({"rope"}, false);
  model.positions = alibi ? Positions::alibi : rotary ? Positions::rotary : Positions::none;
  model.clips_qkv = attention.optional_number({"clip_qkv"}).has_value();
  model.fused_qkv = attention.flag({"fused_qkv"}, true);
  if (attention.flag({"qk_ln"}, false)) model.query_key_norm = QueryKeyNorm::full_width;
  if (attention.flag({"qk_gn"}, false)) model.query_key_norm = QueryKeyNorm::per_head;
  const double window = attention.number({"sliding_window_size"}, -1);
  if (window > 0) model.spans = {AttentionSpan{static_cast<std::int64_t>(window), true}};
  attention.refuse_flag("attn_uses_sequence_id",
                        "is on, and attention within packed documents is not modelled");
  attention.finish();
}

void read_mpt_mlp(HfReader& reader, Model& model) {
  const double ratio = reader.number({"expansion_ratio"}, 4);
  model.activation = Activation::gelu;
  if (ratio <= 0 || ratio > 100) {
    return reader.refuse("expansion_ratio", "is out of range", "a number above 0, at most 100");
  }
  model.ffn = static_cast<std::int64_t>(std::floor(ratio * static_cast<double>(model.hidden)));
  const DocumentNode* block = reader.take({"ffn_config"});
  if (block == nullptr) return;
  HfReader mlp(*block, reader.path_of("ffn_config"), reader.context());
  const std::string type = mlp.word({"ffn_type"}, "mptmlp");
  if (type == "mptglu") {
    model.activation = Activation::geglu;
  } else if (type != "mptmlp") {
    mlp.refuse("ffn_type", "\"" + type + "\" is not modelled", "mptmlp or mptglu");
  }
  model.ffn = mlp.count({"ffn_hidden_size"}, model.ffn, ShapeLimits::inner_width);
  mlp.finish();
}

void read_mpt(HfReader& reader, Model& model) {
  read_size(reader, model);
  read_head_dim(reader, model, 0);
  read_mpt_attention(reader, model);
  read_mpt_mlp(reader, model);
  const bool learned = reader.flag({"learned_pos_emb"}, true);
  model.max_positions = reader.count({"max_seq_len"}, 2048, ShapeLimits::positions);
  if (model.positions == Positions::none && learned) {
    model.positions = Positions::learned;
    model.position_rows = model.max_positions;
    model.position_rows_follow_sequence = true;
  }
  const bool biases = !reader.flag({"no_bias"}, true);
  const std::string norm = reader.word({"norm_type"}, "low_precision_layernorm");
  const bool root_mean_square = norm.find("rms") != std::string::npos;
  model.norm = root_mean_square ? Norm::rms_norm : Norm::layer_norm;
  model.norm_has_bias = biases && !root_mean_square;
  use_biases(model, biases);
  read_tied(reader, model, true);
  model.order = ModuleOrder::norm_attention_norm_mlp;
}

}  // namespace

const std::vector<HfFamily>& gpt_families() {
  static const std::vector<HfFamily> families = {
      {"RefinedWeb", read_refined_web},
      {"RefinedWebModel", read_falcon},  // falcon-7b before transformers knew it
      {"bloom", read_bloom},
      {"codegen", read_codegen},
      {"falcon", read_falcon},
      {"gpt2", read_gpt2},
      {"gpt_bigcode", read_gpt_bigcode},
      {"gpt_neo", read_gpt_neo},
      {"gpt_neox", read_gpt_neox},
      {"gptj", read_gptj},
      {"mpt", read_mpt},
      {"opt", read_opt},
  };
  return families;
}

}  // namespace stepsim::workloads
