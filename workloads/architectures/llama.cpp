// Llama, and those that differ from it by a line or two.

#include "workloads/architectures/architectures.hpp"
#include "workloads/architectures/common_keys.hpp"

namespace stepsim::workloads {

namespace {

void read_llama(HfReader& reader, Model& model) {
  read_llama_shape(reader, model, {});
  read_attention_bias(reader, model, false);
  model.mlp_bias = reader.flag({"mlp_bias"}, false);
}

void read_arcee(HfReader& reader, Model& model) {
  read_llama_shape(reader, model, {.activation = "relu2", .mlp = MlpKind::plain});
  read_attention_bias(reader, model, false);
  model.mlp_bias = reader.flag({"mlp_bias"}, false);
}

void read_ernie(HfReader& reader, Model& model) {
  read_llama_shape(reader, model, {.tied = true});
  model.qkv_bias = reader.flag({"use_bias"}, false);
  model.attention_output_bias = model.mlp_bias = model.qkv_bias;
}

void read_hunyuan(HfReader& reader, Model& model) {
  read_llama_shape(reader, model, {});
  read_attention_bias(reader, model, false);
  model.query_key_norm = QueryKeyNorm::per_head;
}

void read_minicpm(HfReader& reader, Model& model) {
  read_llama_shape(reader, model, {.tied = true});
  read_attention_bias(reader, model, false);
}

void read_seed_oss(HfReader& reader, Model& model) {
  read_llama_shape(reader, model, {.head_dim = 128});
  model.qkv_bias = reader.flag({"attention_bias"}, true);
  model.attention_output_bias = reader.flag({"attention_out_bias"}, false);
  model.mlp_bias = reader.flag({"mlp_bias"}, false);
}

}  // namespace

std::vector<Architecture> llama_architectures() {
  return {{"arcee", read_arcee},      {"ernie4_5", read_ernie},
          {"granite", read_llama},    {"hunyuan_v1_dense", read_hunyuan},
          {"llama", read_llama},      {"minicpm", read_minicpm},
          {"seed_oss", read_seed_oss}};
}

}  // namespace stepsim::workloads
