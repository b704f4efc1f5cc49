// StableLM.

#include "workloads/architectures/architectures.hpp"
#include "workloads/architectures/common_keys.hpp"

namespace stepsim::workloads {

namespace {

void read_stablelm(HfReader& reader, Model& model) {
  read_llama_shape(reader, model, {});
  read_rotary_fraction(reader, model, 0.25);
  use_layer_norm(model, true);
  model.qkv_bias = reader.flag({"use_qkv_bias"}, false);
  if (reader.flag({"qk_layernorm"}, false)) model.query_key_norm = QueryKeyNorm::full_width;
  model.parallel_block = reader.flag({"use_parallel_residual"}, false);
  if (model.parallel_block) model.norm_placement = NormPlacement::shared;
}

}  // namespace

std::vector<Architecture> stablelm_architectures() {
  return {{"stablelm", read_stablelm}, {"stablelm_epoch", read_stablelm}};
}

}  // namespace stepsim::workloads
