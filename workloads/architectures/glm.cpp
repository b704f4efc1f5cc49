// GLM 4.

#include "workloads/architectures/architectures.hpp"
#include "workloads/architectures/common_keys.hpp"

namespace stepsim::workloads {

namespace {

void read_glm(HfReader& reader, Model& model) {
  read_llama_shape(reader, model, {.head_dim = 128});
  read_rotary_fraction(reader, model, 0.5);
  model.qkv_bias = reader.flag({"attention_bias"}, true);
  model.fused_gate_up = true;
}

void read_glm4(HfReader& reader, Model& model) {
  read_glm(reader, model);
  model.norm_placement = NormPlacement::around;
}

}  // namespace

std::vector<Architecture> glm_architectures() { return {{"glm", read_glm}, {"glm4", read_glm4}}; }

}  // namespace stepsim::workloads
