#pragma once

/// What the end of a step computes on the parameters this rank updates: the gradient's norm, the
/// clipping, AdamW.

#include "workloads/kernel.hpp"

#include <cstdint>
#include <vector>

namespace stepsim::workloads {

/// PyTorch's two multi-tensor forms of AdamW: one kernel that does everything (`fused=True`), or
/// one for each operation of the update (`foreach`, the default).
enum class OptimizerForm { fused, foreach };
const char* to_string(OptimizerForm form);

/// Parameters of one rank (its shard). Parameters, gradients and moments are fp32.
struct OptimizerWork {
  std::int64_t elements = 0;
  std::int64_t tensors = 1;
  bool writes_low_precision_copy = false;  // a bf16 copy for the next forward, beside fp32 masters
};

/// AdamW. Fused: reads p, g, m, v and writes p, m, v: 28 bytes a parameter, 30 with the copy.
/// Foreach: decay (8), first moment (12), second moment (8 and 12), root (8), correction (8),
/// epsilon (8), update (16): 80 bytes, 82 with the copy.
std::vector<Kernel> adamw_kernels(const OptimizerWork& work, OptimizerForm form);

/// Squares of all gradients summed (4 bytes a parameter), then gradients scaled (8 bytes).
std::vector<Kernel> gradient_clipping_kernels(const OptimizerWork& work);

}  // namespace stepsim::workloads
