#include "workloads/architectures/common_keys.hpp"

namespace stepsim::workloads {

namespace {

std::int64_t count_or_required(HfReader& reader, const HfReader::Names& names,
                               std::int64_t fallback, std::int64_t most) {
  return fallback > 0 ? reader.count(names, fallback, most) : reader.required_count(names, most);
}

}  // namespace

void read_head_dim(HfReader& reader, Model& model, std::int64_t fallback) {
  model.head_dim = reader.count({"head_dim"}, fallback, ShapeLimits::head_dim);
  if (model.head_dim > 0 || model.heads == 0 || model.hidden == 0) return;
  if (model.hidden % model.heads != 0) {
    return reader.refuse("head_dim",
                         "is missing, and a hidden size of " + std::to_string(model.hidden) +
                             " does not divide into " + std::to_string(model.heads) + " heads",
                         "head_dim, or a hidden size that the heads divide");
  }
  model.head_dim = model.hidden / model.heads;
}

void read_kv_heads(HfReader& reader, Model& model, const HfReader::Names& names,
                   std::int64_t fallback) {
  model.kv_heads = reader.count(names, fallback, ShapeLimits::heads);
  if (model.heads > 0 && model.kv_heads > 0 && model.heads % model.kv_heads != 0) {
    reader.refuse(names.front(),
                  "is " + std::to_string(model.kv_heads) + ", which does not divide " +
                      std::to_string(model.heads) + " attention heads",
                  "a divisor of the number of attention heads");
  }
}

void read_activation(HfReader& reader, Model& model, const HfReader::Names& names,
                     const std::string& fallback, MlpKind kind) {
  const bool gated = kind == MlpKind::gated;
  std::string name = names.front();
  for (const std::string& candidate : names) {
    if (reader.has(candidate)) name = candidate;
  }
  const std::string word = reader.word(names, fallback);
  if (word == "silu" || word == "swish") {
    model.activation = gated ? Activation::swiglu : Activation::silu;
  } else if (word.rfind("gelu", 0) == 0 || word == "quick_gelu") {
    model.activation = gated ? Activation::geglu : Activation::gelu;
  } else if (word == "relu" && !gated) {
    model.activation = Activation::relu;
  } else if (word == "relu2" && !gated) {
    model.activation = Activation::squared_relu;
  } else {
    reader.refuse(name, "\"" + word + "\" is not an activation that is modelled here",
                  gated ? "silu or a gelu" : "gelu, relu, relu2 or silu");
  }
}

void read_llama_shape(HfReader& reader, Model& model, const LlamaDefaults& defaults) {
  model.hidden = reader.required_count({"hidden_size"}, ShapeLimits::width);
  model.layers = reader.required_count({"num_hidden_layers", "num_layers"}, ShapeLimits::layers);
  model.heads =
      count_or_required(reader, {"num_attention_heads"}, defaults.heads, ShapeLimits::heads);
  read_kv_heads(reader, model, {"num_key_value_heads"},
                defaults.kv_heads > 0 ? defaults.kv_heads : model.heads);
  read_head_dim(reader, model, defaults.head_dim);
  model.ffn = reader.required_count({"intermediate_size"}, ShapeLimits::inner_width);
  model.vocabulary =
      count_or_required(reader, {"vocab_size"}, defaults.vocabulary, ShapeLimits::vocabulary);
  model.max_positions = reader.count({"max_position_embeddings"}, 0, ShapeLimits::positions);
  read_activation(reader, model, {"hidden_act", "hidden_activation", "activation_function"},
                  defaults.activation, defaults.mlp);
  model.tied_embeddings = reader.flag({"tie_word_embeddings"}, defaults.tied);
}

void read_attention_bias(HfReader& reader, Model& model, bool fallback) {
  model.qkv_bias = reader.flag({"attention_bias"}, fallback);
  model.attention_output_bias = model.qkv_bias;
}

void use_layer_norm(Model& model, bool bias) {
  model.norm = Norm::layer_norm;
  model.norm_has_bias = bias;
}

void read_rotary_fraction(HfReader& reader, Model& model, double fallback) {
  model.rotary_fraction = reader.number({"partial_rotary_factor", "rope_pct"}, fallback);
  if (model.rotary_fraction <= 0 || model.rotary_fraction > 1) {
    reader.refuse("partial_rotary_factor", "is out of range", "a number above 0, at most 1");
  }
}

void read_gpt_size(HfReader& reader, Model& model) {
  model.hidden =
      reader.required_count({"hidden_size", "n_embd", "n_embed", "d_model"}, ShapeLimits::width);
  model.layers = reader.required_count({"num_hidden_layers", "n_layer", "num_layers", "n_layers"},
                                       ShapeLimits::layers);
  model.heads = reader.required_count({"num_attention_heads", "n_head", "num_heads", "n_heads"},
                                      ShapeLimits::heads);
  model.kv_heads = model.heads;
  model.vocabulary = reader.required_count({"vocab_size"}, ShapeLimits::vocabulary);
}

void read_learned_positions(HfReader& reader, Model& model, const HfReader::Names& names,
                            std::int64_t extra) {
  model.positions = Positions::learned;
  model.max_positions = reader.required_count(names, ShapeLimits::positions);
  model.position_rows = model.max_positions + extra;
}

void read_inner_width(HfReader& reader, Model& model, const HfReader::Names& names) {
  model.ffn = reader.count(names, 4 * model.hidden, ShapeLimits::inner_width);
}

void read_tied(HfReader& reader, Model& model, bool fallback) {
  model.tied_embeddings = reader.flag({"tie_word_embeddings"}, fallback);
}

void use_biases(Model& model, bool biases) {
  model.qkv_bias = biases;
  model.attention_output_bias = biases;
  model.mlp_bias = biases;
}

}  // namespace stepsim::workloads
