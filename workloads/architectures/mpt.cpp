// MPT, with the keys of llm-foundry.

#include "workloads/architectures/architectures.hpp"
#include "workloads/architectures/common_keys.hpp"

#include <cmath>

namespace stepsim::workloads {

namespace {

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
  read_gpt_size(reader, model);
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

std::vector<Architecture> mpt_architectures() { return {{"mpt", read_mpt}}; }

}  // namespace stepsim::workloads
