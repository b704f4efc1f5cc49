// SmolLM 3: layers without rotary positions.

#include "workloads/architectures/architectures.hpp"
#include "workloads/architectures/common_keys.hpp"

namespace stepsim::workloads {

namespace {

/// no_rope_layers has a 1 for each layer with rotary positions.
void read_smollm3(HfReader& reader, Model& model) {
  read_llama_shape(reader, model, {.tied = true, .kv_heads = 4});
  read_attention_bias(reader, model, false);
  model.mlp_bias = reader.flag({"mlp_bias"}, false);
  const std::int64_t interval = reader.count({"no_rope_layer_interval"}, 4, ShapeLimits::layers);
  const std::vector<std::int64_t> rotary = reader.integers("no_rope_layers");
  const bool windows = reader.flag({"use_sliding_window"}, false);
  const std::optional<std::int64_t> window = read_window(reader, 0);
  read_layer_types(reader, model, windows ? window : std::nullopt);
  model.spans.resize(static_cast<std::size_t>(model.layers));
  for (std::size_t i = 0; i < model.spans.size(); ++i) {
    const bool by_interval = (static_cast<std::int64_t>(i) + 1) % interval != 0;
    model.spans[i].rotary = i < rotary.size() ? rotary[i] != 0 : by_interval;
  }
}

}  // namespace

std::vector<Architecture> smollm_architectures() { return {{"smollm3", read_smollm3}}; }

}  // namespace stepsim::workloads
