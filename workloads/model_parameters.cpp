// The parameter tensors of a model, in the order its reference implementation registers them.

#include "workloads/model.hpp"

#include <utility>

namespace stepsim::workloads {

namespace {

/// Adds tensors under one prefix.
class ParameterList {
 public:
  ParameterList(const Model& model, std::string prefix)
      : model_(model), prefix_(std::move(prefix)) {}

  void linear(const std::string& name, std::int64_t outputs, std::int64_t inputs, bool bias) {
    add(name + ".weight", {outputs, inputs});
    if (bias) add(name + ".bias", {outputs});
  }

  void norm(const std::string& name) { norm(name, model_.hidden, model_.norm_has_bias); }

  void norm(const std::string& name, std::int64_t width, bool bias) {
    if (!model_.norm_has_weight) return;
    add(name + ".weight", {width});
    if (bias) add(name + ".bias", {width});
  }

  void attention() {
    const std::int64_t queries = model_.query_width();
    const std::int64_t keys = model_.kv_width();
    if (model_.fused_qkv) {
      linear("attention.qkv", queries + 2 * keys, model_.hidden, model_.qkv_bias);
    } else {
      linear("attention.q", queries, model_.hidden, model_.qkv_bias);
      linear("attention.k", keys, model_.hidden, model_.qkv_bias);
      linear("attention.v", keys, model_.hidden, model_.qkv_bias);
    }
    linear("attention.output", model_.hidden, queries, model_.attention_output_bias);
    query_key_norms();
  }

  void mlp() {
    if (model_.gated() && model_.fused_gate_up) {
      linear("mlp.gate_up", 2 * model_.ffn, model_.hidden, model_.mlp_bias);
    } else {
      if (model_.gated()) linear("mlp.gate", model_.ffn, model_.hidden, model_.mlp_bias);
      linear("mlp.up", model_.ffn, model_.hidden, model_.mlp_bias);
    }
    linear("mlp.down", model_.hidden, model_.ffn, model_.mlp_bias);
  }

  void first_norms() {
    if (model_.norm_placement == NormPlacement::shared) return norm("norm");
    norm("attention_norm");
    if (model_.norm_placement == NormPlacement::around) norm("attention_output_norm");
  }

  void second_norms() {
    if (model_.norm_placement == NormPlacement::shared) return;
    norm("mlp_norm");
    if (model_.norm_placement == NormPlacement::around) norm("mlp_output_norm");
  }

  void add(const std::string& name, std::vector<std::int64_t> shape) {
    parameters_.push_back({prefix_ + name, std::move(shape)});
  }

  std::vector<Parameter> take() { return std::move(parameters_); }

 private:
  void query_key_norms() {
    if (model_.query_key_norm == QueryKeyNorm::none) return;
    const bool per_head = model_.query_key_norm == QueryKeyNorm::per_head;
    norm("attention.q_norm", per_head ? model_.head_dim : model_.query_width(), false);
    norm("attention.k_norm", per_head ? model_.head_dim : model_.kv_width(), false);
  }

  const Model& model_;
  std::string prefix_;
  std::vector<Parameter> parameters_;
};

}  // namespace

std::int64_t Parameter::count() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) product *= extent;
  return product;
}

std::vector<Parameter> layer_parameters(const Model& model, std::int64_t layer) {
  ParameterList list(model, "layers." + std::to_string(layer) + '.');
  switch (model.order) {
    case ModuleOrder::attention_mlp_norms:
      list.attention();
      list.mlp();
      list.first_norms();
      list.second_norms();
      break;
    case ModuleOrder::norm_attention_norm_mlp:
      list.first_norms();
      list.attention();
      list.second_norms();
      list.mlp();
      break;
    case ModuleOrder::norms_attention_mlp:
      list.first_norms();
      list.second_norms();
      list.attention();
      list.mlp();
      break;
    case ModuleOrder::attention_norm_mlp_norm:
      list.attention();
      list.first_norms();
      list.mlp();
      list.second_norms();
      break;
  }
  return list.take();
}

std::vector<Parameter> embedding_parameters(const Model& model) {
  ParameterList list(model, "");
  list.add("embedding.weight", {model.vocabulary, model.token_width()});
  if (model.positions == Positions::learned) {
    list.add("positions.weight", {model.position_rows, model.hidden});
  }
  if (model.embedding_width > 0) {
    list.linear("embedding_projection", model.hidden, model.embedding_width, false);
  }
  if (model.embedding_norm) list.norm("embedding_norm");
  return list.take();
}

std::vector<Parameter> final_parameters(const Model& model) {
  ParameterList list(model, "");
  if (model.final_norm) list.norm("final_norm");
  if (model.embedding_width > 0) {
    list.linear("head_projection", model.embedding_width, model.hidden, false);
  }
  if (!model.tied_embeddings) {
    list.linear("head", model.vocabulary, model.token_width(), model.head_bias);
  } else if (model.head_bias) {
    list.add("head.bias", {model.vocabulary});
  }
  return list.take();
}

}  // namespace stepsim::workloads
