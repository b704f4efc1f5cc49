// Nemotron: squared ReLU, layer norms.

#include "workloads/architectures/architectures.hpp"
#include "workloads/architectures/common_keys.hpp"

namespace stepsim::workloads {

namespace {

void read_nemotron(HfReader& reader, Model& model) {
  read_llama_shape(reader, model, {.activation = "relu2", .mlp = MlpKind::plain});
  read_rotary_fraction(reader, model, 0.5);
  read_attention_bias(reader, model, false);
  model.mlp_bias = reader.flag({"mlp_bias"}, false);
  use_layer_norm(model, true);
}

}  // namespace

std::vector<Architecture> nemotron_architectures() { return {{"nemotron", read_nemotron}}; }

}  // namespace stepsim::workloads
