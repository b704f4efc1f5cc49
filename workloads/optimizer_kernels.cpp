#include "workloads/optimizer_kernels.hpp"

#include <algorithm>
#include <string>

namespace stepsim::workloads {

namespace {

double as_double(std::int64_t count) { return static_cast<double>(count); }

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Launches of one pass over many tensors: PyTorch's multi_tensor_apply puts at most 36 tensors of
/// four lists and 320 chunks of 65,536 elements into a kernel (ATen/native/cuda/MultiTensorApply).
int launches_of_a_pass(const OptimizerWork& work) {
  const std::int64_t chunks =
      std::max(work.tensors, divide_up(work.elements, std::int64_t{65'536}));
  return static_cast<int>(std::max(divide_up(work.tensors, 36), divide_up(chunks, 320)));
}

Kernel pass(const char* name, const OptimizerWork& work, double read, double written) {
  Streaming bytes;
  bytes.kind = StreamingKind::optimizer;
  bytes.bytes_read = read * as_double(work.elements);
  bytes.bytes_written = written * as_double(work.elements);
  return {name, bytes, launches_of_a_pass(work)};
}

}  // namespace

std::vector<Kernel> adamw_kernels(const OptimizerWork& work, OptimizerForm form) {
  const double copy = work.writes_low_precision_copy ? 2 : 0;
  if (form == OptimizerForm::fused) return {pass("adamw", work, 16, 12 + copy)};
  return {pass("adamw_decay", work, 4, 4),
          pass("adamw_first_moment", work, 8, 4),
          pass("adamw_second_moment_decay", work, 4, 4),
          pass("adamw_second_moment", work, 8, 4),
          pass("adamw_root", work, 4, 4),
          pass("adamw_correction", work, 4, 4),
          pass("adamw_epsilon", work, 4, 4),
          pass("adamw_update", work, 12, 4 + copy)};
}

std::vector<Kernel> gradient_clipping_kernels(const OptimizerWork& work) {
  return {pass("gradient_norm", work, 4, 0), pass("gradient_clip", work, 4, 4)};
}

const char* to_string(OptimizerForm form) {
  return form == OptimizerForm::fused ? "fused" : "foreach";
}

}  // namespace stepsim::workloads
