// EXAONE 3 (as the code published with its checkpoints) and 4.

#include "workloads/architectures/architectures.hpp"
#include "workloads/architectures/common_keys.hpp"

namespace stepsim::workloads {

namespace {

void read_exaone(HfReader& reader, Model& model) {
  read_llama_shape(reader, model, {.tied = true});
  model.order = ModuleOrder::norm_attention_norm_mlp;
}

/// One letter a layer, repeating: L has the window, G the whole past.
void read_window_letters(HfReader& reader, Model& model, const DocumentNode* pattern,
                         std::int64_t window) {
  const std::string letters = pattern != nullptr ? pattern->text : "LLLG";
  if (letters.find_first_not_of("LG") != std::string::npos || letters.empty()) {
    return reader.refuse("sliding_window_pattern", "is not a pattern of layers", "such as LLLG");
  }
  for (const char letter : letters) {
    model.spans.push_back(letter == 'L' ? AttentionSpan{window, true} : AttentionSpan{});
  }
}

/// When there are windows, only the layers that have one have rotary positions.
void read_exaone4(HfReader& reader, Model& model) {
  read_llama_shape(reader, model, {});
  model.norm_placement = NormPlacement::after;
  model.query_key_norm = QueryKeyNorm::per_head;
  const DocumentNode* pattern = reader.take({"sliding_window_pattern"});
  const std::optional<std::int64_t> window = read_window(reader, 4096);
  const bool listed = read_layer_types(reader, model, window);
  if (!window) return;
  if (!listed) read_window_letters(reader, model, pattern, *window);
  for (AttentionSpan& span : model.spans) span.rotary = span.window.has_value();
}

}  // namespace

std::vector<Architecture> exaone_architectures() {
  return {{"exaone", read_exaone}, {"exaone4", read_exaone4}};
}

}  // namespace stepsim::workloads
