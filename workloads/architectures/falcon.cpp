// Falcon.

#include "workloads/architectures/architectures.hpp"
#include "workloads/architectures/common_keys.hpp"

namespace stepsim::workloads {

namespace {

/// Falcon 7B shares one norm and one key-value head; 40B and 180B have two norms and groups; the
/// 11B is of the new kind with one norm.
void read_falcon_kind(HfReader& reader, Model& model, bool grouped_fallback) {
  read_gpt_size(reader, model);
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

}  // namespace

std::vector<Architecture> falcon_architectures() {
  return {
      {"RefinedWeb", read_refined_web}, {"RefinedWebModel", read_falcon}, {"falcon", read_falcon}};
}

}  // namespace stepsim::workloads
