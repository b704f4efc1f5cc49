#pragma once

/// A kernel as the cost models see it: what it computes and moves, not how long it takes.

#include "topology/device.hpp"

#include <cstdint>
#include <string>
#include <variant>

namespace stepsim::workloads {

enum class Pass { forward, input_gradient, weight_gradient };

/// C(m,n) = A(m,k) · B(k,n), `batch` times, in the shape the library really runs. For a linear
/// layer y(T,out) = x(T,in) · W(in,out) the three passes are
///   forward           m = T,   n = out, k = in
///   input_gradient    m = T,   n = in,  k = out
///   weight_gradient   m = out, n = in,  k = T
struct Gemm {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
  topology::MatrixFormat format = topology::MatrixFormat::bf16;
  Pass pass = Pass::forward;
  bool accumulates = false;  // adds into its output (fp32 main gradients)
};

/// Scaled dot-product attention over whole sequences.
struct Attention {
  std::int64_t batch = 1;
  std::int64_t query_length = 0;
  std::int64_t key_length = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  bool causal = true;
  std::int64_t window = 0;  // 0: none
  bool backward = false;
  topology::MatrixFormat format = topology::MatrixFormat::bf16;
};

/// How a kernel that only moves bytes uses the memory: each has its own measured share of
/// bandwidth.
enum class StreamingKind {
  elementwise,
  strided,  // element-wise on parts of wider rows: rotary positions op by op, halves of one matrix
  norm,
  layer_norm,  // PyTorch's own kernel, which compiled code beats
  norm_backward,
  softmax,
  log_softmax,  // PyTorch's own over a vocabulary, forward or backward
  reduction,
  copy,
  optimizer,
  embedding
};

/// A kernel whose time is its bytes.
struct Streaming {
  StreamingKind kind = StreamingKind::elementwise;
  double bytes_read = 0;
  double bytes_written = 0;
  double flops = 0;  // outside the tensor cores
};

struct Kernel {
  std::string name;  // «qkv», «attention», «rms_norm», …
  std::variant<Gemm, Attention, Streaming> work;
  int launches = 1;  // kernels the host really launches for it (an unfused chain has several)
};

/// Bytes of one element (fp4: one half, block scales not counted).
double element_bytes(topology::MatrixFormat format);

/// (query, key) pairs an attention kernel must look at for one head of one sequence: the masked
/// half and what lies outside the window are skipped. Queries are the last ones of the keys.
std::int64_t attended_pairs(const Attention& attention);

/// Floating-point operations really run. Attention forward is two matrix multiplications over the
/// attended pairs; backward is five, since flash kernels recompute the scores.
double flops(const Kernel& kernel);

/// Bytes to and from HBM if every operand is read and written once. A GEMM in fp8 or fp4 writes
/// bf16; an accumulating one reads and writes fp32. Attention reads Q, K, V and writes its output
/// and one fp32 log-sum-exp a row; backward reads those and the gradient and writes dQ, dK, dV.
double minimum_bytes(const Kernel& kernel);

const char* to_string(Pass pass);
const char* to_string(StreamingKind kind);
const char* category(const Kernel& kernel);  // «gemm», «attention», «norm», «elementwise», …

}  // namespace stepsim::workloads
