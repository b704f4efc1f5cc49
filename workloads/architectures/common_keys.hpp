#pragma once

/// Keys that several architectures share, and what they mean. Private to the Hugging Face reader.

#include "workloads/hf_config_reader.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace stepsim::workloads {

/// Whether an MLP has a gate: it decides what an activation's name means.
enum class MlpKind { plain, gated };

/// `fallback` 0 means hidden / heads.
void read_head_dim(HfReader& reader, Model& model, std::int64_t fallback);
/// Refuses a count that does not divide the heads.
void read_kv_heads(HfReader& reader, Model& model, const HfReader::Names& names,
                   std::int64_t fallback);
/// Refuses an activation that is not modelled. `fallback` is what an absent key means.
void read_activation(HfReader& reader, Model& model, const HfReader::Names& names,
                     const std::string& fallback, MlpKind kind);

// Of those that grew out of Llama: gated MLPs, RMS norms, rotary positions, grouped queries.

/// Fallbacks of keys that old or short files leave out; 0 means that the key must be there.
struct LlamaDefaults {
  bool tied = false;
  std::int64_t head_dim = 0;  // 0: hidden / heads
  const char* activation = "silu";
  MlpKind mlp = MlpKind::gated;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  // 0: as many as heads
  std::int64_t vocabulary = 0;
};

/// Widths, counts, vocabulary, activation and tying under Llama's names.
void read_llama_shape(HfReader& reader, Model& model, const LlamaDefaults& defaults);
/// Biases of queries, keys, values and the output alike.
void read_attention_bias(HfReader& reader, Model& model, bool fallback);
/// Layer norms instead of RMS norms.
void use_layer_norm(Model& model, bool bias);
/// The share of a head's width that rotary positions turn.
void read_rotary_fraction(HfReader& reader, Model& model, double fallback);

// Of those that grew out of GPT-2: plain MLPs, layer norms, biases, learned or ALiBi positions.

/// Widths, counts and vocabulary under any of the names GPT-2's descendants use.
void read_gpt_size(HfReader& reader, Model& model);
/// Rows of the position table as given; `extra` rows come before the first position.
void read_learned_positions(HfReader& reader, Model& model, const HfReader::Names& names,
                            std::int64_t extra);
/// The MLP's width; four times the hidden size when absent.
void read_inner_width(HfReader& reader, Model& model, const HfReader::Names& names);
/// Whether the head shares the embedding's weights.
void read_tied(HfReader& reader, Model& model, bool fallback);
/// Biases of every linear module of a block, or of none.
void use_biases(Model& model, bool biases);

// Sliding windows (sliding_windows.cpp).

/// A layer's window: null means none, an absent key the class's default (0: none).
std::optional<std::int64_t> read_window(HfReader& reader, std::int64_t fallback);
/// layer_types names the kind of each layer. True when the key is there.
bool read_layer_types(HfReader& reader, Model& model, std::optional<std::int64_t> window);
/// `period` − 1 layers with the window, then one without.
void read_window_pattern(HfReader& reader, Model& model, std::int64_t window_fallback,
                         std::int64_t period_fallback);
/// The same window in every layer.
void read_uniform_window(HfReader& reader, Model& model, std::int64_t fallback);
/// Qwen's windows are off unless use_sliding_window is on, and then start at layer
/// max_window_layers.
void read_qwen_windows(HfReader& reader, Model& model);

}  // namespace stepsim::workloads
