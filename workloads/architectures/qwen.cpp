// Qwen 1 to 3. The first is read as the code published with its checkpoints does.

#include "workloads/architectures/architectures.hpp"
#include "workloads/architectures/common_keys.hpp"

namespace stepsim::workloads {

namespace {

/// The first Qwen: intermediate_size counts gate and up together.
void read_qwen(HfReader& reader, Model& model) {
  read_llama_shape(reader, model,
                   {.head_dim = reader.count({"kv_channels"}, 0, ShapeLimits::head_dim)});
  model.ffn /= 2;
  model.max_positions = reader.count({"seq_length"}, model.max_positions, ShapeLimits::positions);
  const bool biases = !reader.flag({"no_bias"}, true);
  model.qkv_bias = true;
  model.attention_output_bias = biases;
  model.mlp_bias = biases;
  model.fused_qkv = true;
  model.order = ModuleOrder::norm_attention_norm_mlp;
}

void read_qwen2(HfReader& reader, Model& model) {
  read_llama_shape(reader, model, {});
  model.qkv_bias = true;
  read_qwen_windows(reader, model);
}

void read_qwen3(HfReader& reader, Model& model) {
  read_llama_shape(reader, model, {.head_dim = 128});
  read_attention_bias(reader, model, false);
  model.query_key_norm = QueryKeyNorm::per_head;
  read_qwen_windows(reader, model);
}

}  // namespace

std::vector<Architecture> qwen_architectures() {
  return {{"qwen", read_qwen}, {"qwen2", read_qwen2}, {"qwen3", read_qwen3}};
}

}  // namespace stepsim::workloads
