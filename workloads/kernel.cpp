#include "workloads/kernel.hpp"

#include <algorithm>

namespace stepsim::workloads {

namespace {

double as_double(std::int64_t count) { return static_cast<double>(count); }

double flops_of(const Gemm& gemm) {
  return 2 * as_double(gemm.batch) * as_double(gemm.m) * as_double(gemm.n) * as_double(gemm.k);
}

double flops_of(const Attention& attention) {
  const double matmul = 2 * as_double(attention.batch) * as_double(attention.heads) *
                        as_double(attention.head_dim) * as_double(attended_pairs(attention));
  return (attention.backward ? 5 : 2) * matmul;
}

double flops_of(const Streaming& streaming) { return streaming.flops; }

double bytes_of(const Gemm& gemm) {
  const double operand = element_bytes(gemm.format);
  const double inputs =
      operand * (as_double(gemm.m) * as_double(gemm.k) + as_double(gemm.k) * as_double(gemm.n));
  const double output =
      as_double(gemm.m) * as_double(gemm.n) * (gemm.accumulates ? 8 : std::max(operand, 2.0));
  return as_double(gemm.batch) * (inputs + output);
}

double bytes_of(const Attention& attention) {
  const double element = element_bytes(attention.format);
  const double head_rows = as_double(attention.batch) * as_double(attention.head_dim);
  const double queries =
      element * head_rows * as_double(attention.heads) * as_double(attention.query_length);
  const double keys_and_values =
      2 * element * head_rows * as_double(attention.kv_heads) * as_double(attention.key_length);
  const double row_statistics = 4 * as_double(attention.batch) * as_double(attention.heads) *
                                as_double(attention.query_length);
  if (!attention.backward) return 2 * queries + keys_and_values + row_statistics;
  return 4 * queries + 2 * keys_and_values + row_statistics;  // q, out, dout, dq; k, v, dk, dv
}

double bytes_of(const Streaming& streaming) {
  return streaming.bytes_read + streaming.bytes_written;
}

const char* category_of(const Gemm&) { return "gemm"; }
const char* category_of(const Attention&) { return "attention"; }
const char* category_of(const Streaming& streaming) {
  switch (streaming.kind) {
    case StreamingKind::strided:
      return to_string(StreamingKind::elementwise);
    case StreamingKind::layer_norm:
    case StreamingKind::norm_backward:
      return to_string(StreamingKind::norm);
    case StreamingKind::log_softmax:
      return to_string(StreamingKind::softmax);
    default:
      return to_string(streaming.kind);
  }
}

/// Σ over i in 1..count of min(i, window).
std::int64_t triangle_within(std::int64_t count, std::int64_t window) {
  const std::int64_t ramp = std::min(count, window);
  return ramp * (ramp + 1) / 2 + (count - ramp) * window;
}

}  // namespace

double element_bytes(topology::MatrixFormat format) {
  switch (format) {
    case topology::MatrixFormat::fp32:
    case topology::MatrixFormat::tf32:
      return 4;
    case topology::MatrixFormat::fp16:
    case topology::MatrixFormat::bf16:
      return 2;
    case topology::MatrixFormat::fp8:
      return 1;
    case topology::MatrixFormat::fp4:
      return 0.5;
  }
  return 2;
}

std::int64_t attended_pairs(const Attention& attention) {
  const std::int64_t window = attention.window > 0
                                  ? std::min(attention.window, attention.key_length)
                                  : attention.key_length;
  if (!attention.causal) return attention.query_length * window;
  const std::int64_t before = std::max<std::int64_t>(
      0, attention.key_length - attention.query_length);  // keys that precede the first query
  return triangle_within(before + attention.query_length, window) - triangle_within(before, window);
}

double flops(const Kernel& kernel) {
  return std::visit([](const auto& work) { return flops_of(work); }, kernel.work);
}

double minimum_bytes(const Kernel& kernel) {
  return std::visit([](const auto& work) { return bytes_of(work); }, kernel.work);
}

const char* category(const Kernel& kernel) {
  return std::visit([](const auto& work) { return category_of(work); }, kernel.work);
}

const char* to_string(Pass pass) {
  switch (pass) {
    case Pass::forward:
      return "forward";
    case Pass::input_gradient:
      return "input gradient";
    case Pass::weight_gradient:
      return "weight gradient";
  }
  return "";
}

const char* to_string(StreamingKind kind) {
  switch (kind) {
    case StreamingKind::elementwise:
      return "elementwise";
    case StreamingKind::strided:
      return "strided";
    case StreamingKind::norm:
      return "norm";
    case StreamingKind::layer_norm:
      return "layer norm";
    case StreamingKind::norm_backward:
      return "norm backward";
    case StreamingKind::softmax:
      return "softmax";
    case StreamingKind::log_softmax:
      return "log softmax";
    case StreamingKind::reduction:
      return "reduction";
    case StreamingKind::copy:
      return "copy";
    case StreamingKind::optimizer:
      return "optimizer";
    case StreamingKind::embedding:
      return "embedding";
  }
  return "";
}

}  // namespace stepsim::workloads
