// Phi 1 to 3.

#include "workloads/architectures/architectures.hpp"
#include "workloads/architectures/common_keys.hpp"

namespace stepsim::workloads {

namespace {

/// phi-1 to phi-2: a parallel block with one norm, biases everywhere.
void read_phi(HfReader& reader, Model& model) {
  read_llama_shape(reader, model, {.activation = "gelu_new", .mlp = MlpKind::plain});
  read_rotary_fraction(reader, model, 0.5);
  reader.refuse_flag("qk_layernorm",
                     "is on, and norms of queries and keys in phi are not modelled");
  use_layer_norm(model, true);
  model.qkv_bias = model.attention_output_bias = model.mlp_bias = model.head_bias = true;
  model.parallel_block = true;
  model.norm_placement = NormPlacement::shared;
}

void read_phi3(HfReader& reader, Model& model) {
  read_llama_shape(reader, model, {});
  read_rotary_fraction(reader, model, 1);
  read_uniform_window(reader, model, 0);
  model.fused_qkv = true;
  model.fused_gate_up = true;
}

}  // namespace

std::vector<Architecture> phi_architectures() { return {{"phi", read_phi}, {"phi3", read_phi3}}; }

}  // namespace stepsim::workloads
