// GPT-Neo: every other layer has a window.

#include "workloads/architectures/architectures.hpp"
#include "workloads/architectures/common_keys.hpp"

namespace stepsim::workloads {

namespace {

/// attention_types is [[["global", "local"], 12]]: a pattern and how often it repeats.
void read_gpt_neo_spans(HfReader& reader, Model& model) {
  const std::int64_t window = reader.count({"window_size"}, 256, ShapeLimits::positions);
  const DocumentNode* types = reader.take({"attention_types"});
  reader.take({"attention_layers"});
  const auto malformed = [&] {
    reader.refuse("attention_types", "is not a list of patterns",
                  "such as [[[\"global\", \"local\"], 12]]");
  };
  if (types == nullptr) {
    model.spans = {AttentionSpan{}, AttentionSpan{window, true}};
    return;
  }
  if (!types->is_list() || types->items.size() != 1) return malformed();
  const DocumentNode& group = types->items.front();
  if (!group.is_list() || group.items.size() != 2 || !group.items.front().is_list()) {
    return malformed();
  }
  for (const DocumentNode& kind : group.items.front().items) {
    if (kind.text != "global" && kind.text != "local") return malformed();
    model.spans.push_back(kind.text == "local" ? AttentionSpan{window, true} : AttentionSpan{});
  }
}

void read_gpt_neo(HfReader& reader, Model& model) {
  read_gpt_size(reader, model);
  read_head_dim(reader, model, 0);
  read_inner_width(reader, model, {"intermediate_size"});
  read_learned_positions(reader, model, {"max_position_embeddings"}, 0);
  read_activation(reader, model, {"activation_function"}, "gelu_new", MlpKind::plain);
  read_gpt_neo_spans(reader, model);
  read_tied(reader, model, true);
  use_layer_norm(model, true);
  use_biases(model, true);
  model.qkv_bias = false;
  model.order = ModuleOrder::norm_attention_norm_mlp;
}

}  // namespace

std::vector<Architecture> gpt_neo_architectures() { return {{"gpt_neo", read_gpt_neo}}; }

}  // namespace stepsim::workloads
