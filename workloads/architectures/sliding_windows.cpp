// Sliding windows: which layers have one, in the ways that configuration files say it.

#include "workloads/architectures/common_keys.hpp"

namespace stepsim::workloads {

std::optional<std::int64_t> read_window(HfReader& reader, std::int64_t fallback) {
  const HfReader::Names names = {"sliding_window", "sliding_window_size"};
  bool stated = false;
  for (const std::string& name : names) stated = stated || reader.has(name);
  const std::int64_t window = reader.count(names, stated ? 0 : fallback, ShapeLimits::positions);
  if (window == 0) return std::nullopt;
  return window;
}

bool read_layer_types(HfReader& reader, Model& model, std::optional<std::int64_t> window) {
  if (!reader.has("layer_types")) return false;
  const std::vector<std::string> types = reader.words("layer_types");
  if (types.empty()) return false;
  if (static_cast<std::int64_t>(types.size()) != model.layers) {
    reader.refuse("layer_types",
                  "has " + std::to_string(types.size()) + " entries for " +
                      std::to_string(model.layers) + " layers",
                  "one entry a layer");
  }
  for (const std::string& type : types) {
    if (type == "sliding_attention") {
      model.spans.push_back({window, true});
    } else if (type == "full_attention") {
      model.spans.push_back({});
    } else {
      reader.refuse("layer_types", "has a layer of \"" + type + "\", which is not modelled",
                    "full_attention or sliding_attention");
      break;
    }
  }
  return true;
}

void read_window_pattern(HfReader& reader, Model& model, std::int64_t window_fallback,
                         std::int64_t period_fallback) {
  const std::optional<std::int64_t> window = read_window(reader, window_fallback);
  const std::int64_t period = reader.count({"sliding_window_pattern", "_sliding_window_pattern"},
                                           period_fallback, ShapeLimits::layers);
  if (read_layer_types(reader, model, window) || !window) return;
  for (std::int64_t i = 1; i < period; ++i) model.spans.push_back({window, true});
  model.spans.push_back({});
}

void read_uniform_window(HfReader& reader, Model& model, std::int64_t fallback) {
  const std::optional<std::int64_t> window = read_window(reader, fallback);
  if (read_layer_types(reader, model, window)) return;
  if (window) model.spans = {{window, true}};
}

void read_qwen_windows(HfReader& reader, Model& model) {
  const bool on = reader.flag({"use_sliding_window"}, false);
  const std::optional<std::int64_t> window = read_window(reader, 4096);
  const double first = reader.number({"max_window_layers"}, 28);
  if (read_layer_types(reader, model, on ? window : std::nullopt) || !on || !window) return;
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    model.spans.push_back(static_cast<double>(layer) >= first ? AttentionSpan{window, true}
                                                              : AttentionSpan{});
  }
}

}  // namespace stepsim::workloads
