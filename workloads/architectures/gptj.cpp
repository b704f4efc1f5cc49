// GPT-J and CodeGen: parallel blocks with one norm.

#include "workloads/architectures/architectures.hpp"
#include "workloads/architectures/common_keys.hpp"

#include <algorithm>

namespace stepsim::workloads {

namespace {

void read_rotary_width(HfReader& reader, Model& model, const std::string& name,
                       std::int64_t fallback) {
  const std::int64_t width = reader.count({name}, fallback, ShapeLimits::head_dim);
  if (model.head_dim > 0) {
    model.rotary_fraction =
        std::min(1.0, static_cast<double>(width) / static_cast<double>(model.head_dim));
  }
}

void read_gptj(HfReader& reader, Model& model) {
  read_gpt_size(reader, model);
  read_head_dim(reader, model, 0);
  read_inner_width(reader, model, {"n_inner", "intermediate_size"});
  model.max_positions = reader.count({"n_positions", "n_ctx"}, 2048, ShapeLimits::positions);
  read_rotary_width(reader, model, "rotary_dim", 64);
  read_activation(reader, model, {"activation_function"}, "gelu_new", MlpKind::plain);
  read_tied(reader, model, false);
  use_layer_norm(model, true);
  model.mlp_bias = true;
  model.head_bias = true;
  model.parallel_block = true;
  model.norm_placement = NormPlacement::shared;
  model.order = ModuleOrder::norm_attention_norm_mlp;
}

void read_codegen(HfReader& reader, Model& model) {
  read_gptj(reader, model);
  model.fused_qkv = true;
}

}  // namespace

std::vector<Architecture> gptj_architectures() {
  return {{"codegen", read_codegen}, {"gptj", read_gptj}};
}

}  // namespace stepsim::workloads
