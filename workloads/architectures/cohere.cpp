// Cohere's Command: parallel blocks.

#include "workloads/architectures/architectures.hpp"
#include "workloads/architectures/common_keys.hpp"

namespace stepsim::workloads {

namespace {

void read_cohere(HfReader& reader, Model& model) {
  read_llama_shape(reader, model, {.tied = true});
  read_attention_bias(reader, model, false);
  use_layer_norm(model, false);
  if (reader.flag({"use_qk_norm"}, false)) model.query_key_norm = QueryKeyNorm::full_width;
  model.parallel_block = true;
  model.norm_placement = NormPlacement::shared;
}

/// Three layers with a window and rotary positions, one without either.
void read_cohere2(HfReader& reader, Model& model) {
  read_cohere(reader, model);
  read_window_pattern(reader, model, 4096, 4);
  for (AttentionSpan& span : model.spans) span.rotary = span.window.has_value();
}

}  // namespace

std::vector<Architecture> cohere_architectures() {
  return {{"cohere", read_cohere}, {"cohere2", read_cohere2}};
}

}  // namespace stepsim::workloads
