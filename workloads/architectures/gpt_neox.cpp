// GPT-NeoX and Pythia: parallel blocks with two norms.

#include "workloads/architectures/architectures.hpp"
#include "workloads/architectures/common_keys.hpp"

namespace stepsim::workloads {

namespace {

void read_gpt_neox(HfReader& reader, Model& model) {
  read_gpt_size(reader, model);
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

}  // namespace

std::vector<Architecture> gpt_neox_architectures() { return {{"gpt_neox", read_gpt_neox}}; }

}  // namespace stepsim::workloads
