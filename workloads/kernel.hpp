#pragma once

/// A kernel as the cost models see it: what it computes and moves, not how long it takes.

#include "topology/device.hpp"

#include <cstdint>
#include <string>
#include <variant>

namespace stepsim::workloads {

enum class Pass { forward, input_gradient, weight_gradient };

/// y(m,n) = x(m,k) · W(k,n), `batch` times.
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
  norm,
  norm_backward,
  softmax,
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

/// Floating-point operations and bytes to and from HBM if every operand is read and written once.
double flops(const Kernel& kernel);
double minimum_bytes(const Kernel& kernel);
const char* category(const Kernel& kernel);  // «gemm», «attention», «norm», «elementwise», …

}  // namespace stepsim::workloads
