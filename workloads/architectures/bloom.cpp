// BLOOM.

#include "workloads/architectures/architectures.hpp"
#include "workloads/architectures/common_keys.hpp"

namespace stepsim::workloads {

namespace {

void read_bloom(HfReader& reader, Model& model) {
  read_gpt_size(reader, model);
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

}  // namespace

std::vector<Architecture> bloom_architectures() { return {{"bloom", read_bloom}}; }

}  // namespace stepsim::workloads
