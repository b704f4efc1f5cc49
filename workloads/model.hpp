#pragma once

/// A decoder-only transformer as data: enough to count its parameters exactly, layer by layer and
/// tensor by tensor, and to list the kernels of its forward and backward pass.

#include "sim/base/data_directory.hpp"
#include "sim/base/units.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stepsim::workloads {

enum class Norm { layer_norm, rms_norm };
enum class Activation { gelu, relu, swiglu, geglu };
enum class Positions { none, rotary, learned, alibi };

/// Attention of one layer: full causal, or limited to a window of past tokens.
struct AttentionSpan {
  std::optional<std::int64_t> window;  // tokens; absent = the whole past
};

struct Model {
  std::string name;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t ffn = 0;  // inner width of the MLP; gated activations have two such inputs
  std::int64_t vocabulary = 0;
  std::int64_t max_positions = 0;  // rows of a learned position table
  Activation activation = Activation::swiglu;
  Norm norm = Norm::rms_norm;
  bool norm_has_bias = false;
  Positions positions = Positions::rotary;
  bool qkv_bias = false;
  bool attention_output_bias = false;
  bool mlp_bias = false;
  bool head_bias = false;
  bool tied_embeddings = false;
  bool parallel_block = false;  // attention and MLP read the same normalised input
  int norms_per_layer = 2;      // 1 for one-norm parallel blocks, 4 for gemma2's sandwich
  bool query_key_norm = false;
  bool embedding_norm = false;  // bloom
  bool final_norm = true;
  std::optional<double> attention_soft_cap;
  std::optional<double> logit_soft_cap;
  std::vector<AttentionSpan> spans;  // one a layer, repeating; empty = full everywhere

  std::string source;  // «zoo: llama3-70b», or the file it was read from
  std::string hash;    // of the file it was read from

  bool gated() const { return activation == Activation::swiglu || activation == Activation::geglu; }
};

/// One parameter tensor, in registration order of the reference implementation.
struct Parameter {
  std::string name;  // «layers.3.mlp.down.weight»
  std::vector<std::int64_t> shape;
  std::int64_t count() const;
};

/// Parameters of one transformer block, of what comes before the blocks and of what comes after.
std::vector<Parameter> layer_parameters(const Model& model, std::int64_t layer);
std::vector<Parameter> embedding_parameters(const Model& model);
std::vector<Parameter> final_parameters(const Model& model);  // final norm and untied head
std::int64_t parameter_count(const Model& model);
std::int64_t layer_parameter_count(const Model& model);

enum class FlopsConvention { full_attention, causal_attention, six_n };
const char* to_string(FlopsConvention convention);

/// Model FLOPs of one token in training (forward and backward), as design promises: 3 × the forward
/// matrix multiplications, no input embedding.
double training_flops_per_token(const Model& model, std::int64_t sequence_length,
                                FlopsConvention convention);

}  // namespace stepsim::workloads
