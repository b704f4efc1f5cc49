#include "workloads/tensor_slice.hpp"

#include <algorithm>

namespace stepsim::workloads {

std::int64_t padded_vocabulary(std::int64_t vocabulary, int tp) {
  const std::int64_t unit = std::int64_t{128} * tp;
  return (vocabulary + unit - 1) / unit * unit;
}

Model tensor_slice(const Model& model, int tp) {
  Model slice = model;
  slice.heads /= tp;
  slice.kv_heads = std::max<std::int64_t>(1, model.kv_heads / tp);
  slice.ffn /= tp;
  slice.vocabulary = padded_vocabulary(model.vocabulary, tp) / tp;
  slice.fused_qkv = true;
  slice.fused_gate_up = true;
  return slice;
}

std::string tensor_slice_problem(const Model& model, int tp) {
  const auto divides = [&](std::int64_t number) { return number % tp == 0; };
  const auto text = [](std::int64_t number) { return std::to_string(number); };
  if (model.embedding_width > 0) return "the model's embedding is narrower than its blocks";
  if (model.query_key_norm == QueryKeyNorm::full_width && tp > 1)
    return "the model normalises queries and keys over all heads, which tp cuts apart";
  if (!divides(model.heads))
    return "num_attention_heads (" + text(model.heads) +
           ") must be a multiple of tensor_model_parallel_size (" + text(tp) + ")";
  if (!divides(model.kv_heads) && tp % model.kv_heads != 0)
    return "num_query_groups (" + text(model.kv_heads) +
           ") must be a multiple or divisor of tensor_model_parallel_size (" + text(tp) + ")";
  if (!divides(model.ffn))
    return "ffn_hidden_size (" + text(model.ffn) +
           ") is not divisible by tensor_model_parallel_size (" + text(tp) + ")";
  return {};
}

}  // namespace stepsim::workloads
