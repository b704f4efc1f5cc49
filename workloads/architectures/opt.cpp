// OPT.

#include "workloads/architectures/architectures.hpp"
#include "workloads/architectures/common_keys.hpp"

namespace stepsim::workloads {

namespace {

void read_opt(HfReader& reader, Model& model) {
  read_gpt_size(reader, model);
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

}  // namespace

std::vector<Architecture> opt_architectures() { return {{"opt", read_opt}}; }

}  // namespace stepsim::workloads
