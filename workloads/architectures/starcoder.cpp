// StarCoder 2. The first is gpt_bigcode.

#include "workloads/architectures/architectures.hpp"
#include "workloads/architectures/common_keys.hpp"

namespace stepsim::workloads {

namespace {

void read_starcoder2(HfReader& reader, Model& model) {
  read_llama_shape(reader, model,
                   {.tied = true, .activation = "gelu_pytorch_tanh", .mlp = MlpKind::plain});
  read_uniform_window(reader, model, 0);
  use_layer_norm(model, true);
  model.qkv_bias = reader.flag({"use_bias"}, true);
  model.attention_output_bias = model.mlp_bias = model.qkv_bias;
}

}  // namespace

std::vector<Architecture> starcoder_architectures() { return {{"starcoder2", read_starcoder2}}; }

}  // namespace stepsim::workloads
