// OLMo 1 to 3.

#include "workloads/architectures/architectures.hpp"
#include "workloads/architectures/common_keys.hpp"

namespace stepsim::workloads {

namespace {

void read_olmo(HfReader& reader, Model& model) {
  read_llama_shape(reader, model, {});
  read_attention_bias(reader, model, false);
  use_layer_norm(model, false);
  model.norm_has_weight = false;
  model.clips_qkv = reader.optional_number({"clip_qkv"}).has_value();
}

void read_olmo2(HfReader& reader, Model& model) {
  read_llama_shape(reader, model, {});
  read_attention_bias(reader, model, false);
  model.norm_placement = NormPlacement::after;
  model.query_key_norm = QueryKeyNorm::full_width;
}

void read_olmo3(HfReader& reader, Model& model) {
  read_olmo2(reader, model);
  read_window_pattern(reader, model, 4096, 4);
}

}  // namespace

std::vector<Architecture> olmo_architectures() {
  return {{"olmo", read_olmo}, {"olmo2", read_olmo2}, {"olmo3", read_olmo3}};
}

}  // namespace stepsim::workloads
