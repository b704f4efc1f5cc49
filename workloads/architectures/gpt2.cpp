// GPT-2, the shape of GPT-3 too, and StarCoder 1 (gpt_bigcode).

#include "workloads/architectures/architectures.hpp"
#include "workloads/architectures/common_keys.hpp"

namespace stepsim::workloads {

namespace {

void read_gpt2(HfReader& reader, Model& model) {
  read_gpt_size(reader, model);
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

}  // namespace

std::vector<Architecture> gpt2_architectures() {
  return {{"gpt2", read_gpt2}, {"gpt_bigcode", read_gpt_bigcode}};
}

}  // namespace stepsim::workloads
