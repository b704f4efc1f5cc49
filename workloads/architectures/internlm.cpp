// InternLM 1 to 3, as the code published with their checkpoints.

#include "workloads/architectures/architectures.hpp"
#include "workloads/architectures/common_keys.hpp"

namespace stepsim::workloads {

namespace {

void read_internlm(HfReader& reader, Model& model) {
  read_llama_shape(reader, model, {});
  model.qkv_bias = model.attention_output_bias = reader.flag({"bias"}, true);
}

void read_internlm2(HfReader& reader, Model& model) {
  read_llama_shape(reader, model, {});
  model.qkv_bias = model.attention_output_bias = reader.flag({"bias"}, true);
  model.fused_qkv = true;
}

void read_internlm3(HfReader& reader, Model& model) {
  read_llama_shape(reader, model, {});
  model.qkv_bias = reader.flag({"qkv_bias"}, false);
  model.attention_output_bias = model.mlp_bias = reader.flag({"bias"}, false);
}

}  // namespace

std::vector<Architecture> internlm_architectures() {
  return {
      {"internlm", read_internlm}, {"internlm2", read_internlm2}, {"internlm3", read_internlm3}};
}

}  // namespace stepsim::workloads
