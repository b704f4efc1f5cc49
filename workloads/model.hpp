#pragma once

/// A decoder-only transformer as data: enough to count its parameters exactly, layer by layer and
/// tensor by tensor, and to list the kernels of its forward and backward pass
/// (workloads/layer_kernels.hpp). Models are read from Hugging Face keys by
/// workloads/hf_config.hpp.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stepsim::workloads {

enum class Norm { layer_norm, rms_norm };

/// Gated activations (swiglu, geglu) have two inputs of the inner width: gate and up.
enum class Activation { gelu, relu, squared_relu, silu, swiglu, geglu };

enum class Positions { none, rotary, learned, alibi };

/// Where a block normalises.
enum class NormPlacement {
  before,  // before attention and before the MLP
  shared,  // one norm that the attention and the MLP of a parallel block both read
  after,   // after attention and after the MLP (olmo2; opt-350m)
  around   // before and after both (gemma2, glm4)
};

/// Norms of queries and keys: with one weight of a head's width, or one weight a channel.
enum class QueryKeyNorm { none, per_head, full_width };

/// Order in which the reference implementation registers the parts of a block. DDP fills its
/// buckets in the reverse of it.
enum class ModuleOrder {
  attention_mlp_norms,      // llama, qwen, mistral, gemma, falcon, stablelm, …
  norm_attention_norm_mlp,  // gpt2, bloom, mpt, gpt_bigcode, gptj
  norms_attention_mlp,      // gpt_neox
  attention_norm_mlp_norm   // opt
};

/// Attention of one layer: the whole past, or a window of it.
struct AttentionSpan {
  std::optional<std::int64_t> window;  // tokens; absent = the whole past
  bool rotary = true;                  // false: a layer without rotary positions (smollm3, cohere2)
};

struct Model {
  std::string name;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t ffn = 0;  // inner width of the MLP
  std::int64_t vocabulary = 0;
  std::int64_t embedding_width = 0;  // 0 = hidden; otherwise projected to and from it (opt-350m)
  std::int64_t max_positions = 0;    // longest sequence the model was made for; 0 = not stated
  std::int64_t position_rows = 0;    // rows of a learned position table (opt has two more)
  bool position_rows_follow_sequence = false;  // llm-foundry sizes the table by the training length
  Activation activation = Activation::swiglu;
  Norm norm = Norm::rms_norm;
  bool norm_has_weight = true;  // false: olmo's layer norm
  bool norm_has_bias = false;
  NormPlacement norm_placement = NormPlacement::before;
  QueryKeyNorm query_key_norm = QueryKeyNorm::none;
  bool embedding_norm = false;  // bloom
  bool final_norm = true;
  bool parallel_block = false;  // attention and MLP both start from the block's input
  Positions positions = Positions::rotary;
  double rotary_fraction = 1;  // of a head's width
  bool qkv_bias = false;
  bool attention_output_bias = false;
  bool mlp_bias = false;
  bool head_bias = false;
  bool fused_qkv = false;      // one matrix for queries, keys and values
  bool fused_gate_up = false;  // one matrix for gate and up
  bool clips_qkv = false;      // queries, keys and values are clamped after their projection
  bool tied_embeddings = false;
  std::optional<double> attention_soft_cap;
  std::optional<double> logit_soft_cap;
  std::vector<AttentionSpan> spans;  // one a layer, repeating; empty = the whole past everywhere
  ModuleOrder order = ModuleOrder::attention_mlp_norms;

  std::string model_type;  // Hugging Face's name of the architecture
  std::string source;      // «zoo: llama3-70b», or the file it was read from
  std::string hash;        // of the file it was read from

  bool gated() const { return activation == Activation::swiglu || activation == Activation::geglu; }
  std::int64_t query_width() const { return heads * head_dim; }
  std::int64_t kv_width() const { return kv_heads * head_dim; }
  std::int64_t token_width() const { return embedding_width > 0 ? embedding_width : hidden; }
  int norms_per_layer() const;
  AttentionSpan span(std::int64_t layer) const;
};

const char* to_string(Activation activation);
const char* to_string(Norm norm);
const char* to_string(Positions positions);

/// One parameter tensor. Weights of linear layers are (outputs, inputs), as PyTorch stores them.
struct Parameter {
  std::string name;  // «layers.3.mlp.down.weight»
  std::vector<std::int64_t> shape;
  std::int64_t count() const;
};

/// Parameters of one block, of what comes before the blocks (token and position tables) and of what
/// comes after (final norm and untied head), each in registration order of the reference
/// implementation.
std::vector<Parameter> layer_parameters(const Model& model, std::int64_t layer);
std::vector<Parameter> embedding_parameters(const Model& model);
std::vector<Parameter> final_parameters(const Model& model);
std::int64_t parameter_count(const Model& model);
std::int64_t layer_parameter_count(const Model& model);

/// The model as it is trained on sequences of this length: llm-foundry's learned position tables
/// grow with it, all others stay as they are. Throws InputError when a learned table has no row for
/// the last positions.
Model for_sequence_length(Model model, std::int64_t sequence_length);

enum class FlopsConvention { full_attention, causal_attention, six_n };
const char* to_string(FlopsConvention convention);  // «full-attention», «causal-attention», «six-n»

/// Forward matrix multiplications of one token: all linear layers of a block, and the output head
/// with the projections of a narrow embedding. No norms, no element-wise work, no embedding lookup.
double layer_forward_flops_per_token(const Model& model, std::int64_t layer,
                                     std::int64_t sequence_length, FlopsConvention convention);
double head_forward_flops_per_token(const Model& model);

/// Model FLOPs of one token in training (forward and backward): 3 × the forward matrix
/// multiplications, with attention
///   full_attention    12·heads·head_dim·min(s, window) a layer
///   causal_attention  the half a causal mask leaves: min(s, w) is replaced by w − w²/2s, w ≤ s
///   six_n             none, and 6 × all parameters instead of the matrix multiplications
double training_flops_per_token(const Model& model, std::int64_t sequence_length,
                                FlopsConvention convention);

}  // namespace stepsim::workloads
