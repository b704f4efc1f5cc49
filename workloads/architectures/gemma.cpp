// Gemma 1 to 3: windows in most layers, soft caps, norms on both sides.

#include "workloads/architectures/architectures.hpp"
#include "workloads/architectures/common_keys.hpp"

namespace stepsim::workloads {

namespace {

void read_gemma(HfReader& reader, Model& model) {
  read_llama_shape(reader, model,
                   {.tied = true, .head_dim = 256, .activation = "gelu_pytorch_tanh"});
  read_attention_bias(reader, model, false);
}

void read_soft_caps(HfReader& reader, Model& model, std::optional<double> attention,
                    std::optional<double> logits) {
  const auto read = [&](const std::string& name, std::optional<double> fallback) {
    return reader.has(name) ? reader.optional_number({name}) : fallback;
  };
  model.attention_soft_cap = read("attn_logit_softcapping", attention);
  model.logit_soft_cap = read("final_logit_softcapping", logits);
}

/// Layers alternate: the even ones have the window.
void read_gemma2(HfReader& reader, Model& model) {
  read_gemma(reader, model);
  model.norm_placement = NormPlacement::around;
  read_window_pattern(reader, model, 4096, 2);
  read_soft_caps(reader, model, 50.0, 30.0);
}

void read_gemma3(HfReader& reader, Model& model) {
  read_llama_shape(reader, model,
                   {.tied = true,
                    .head_dim = 256,
                    .activation = "gelu_pytorch_tanh",
                    .heads = 8,
                    .kv_heads = 4,
                    .vocabulary = 262'208});
  read_attention_bias(reader, model, false);
  model.norm_placement = NormPlacement::around;
  model.query_key_norm = QueryKeyNorm::per_head;
  read_window_pattern(reader, model, 4096, 6);
  read_soft_caps(reader, model, std::nullopt, std::nullopt);
}

}  // namespace

std::vector<Architecture> gemma_architectures() {
  return {{"gemma", read_gemma}, {"gemma2", read_gemma2}, {"gemma3_text", read_gemma3}};
}

}  // namespace stepsim::workloads
