#pragma once

/// Activation checkpointing: from the kernels and tensors of a module and what it recomputes, the
/// exact order of kernels, allocations and frees of its forward and backward pass.
///
/// As torch.utils.checkpoint (non-reentrant): backward of a checkpointed module first runs the
/// needed part of forward again, all of it before the first gradient kernel; with early stop that
/// part ends with the last tensor backward needs, so the kernels after it do not run twice.
///
/// The selective policy by op is torchtitan's: outputs of attention and of the first, third, …
/// matrix product of a block are kept, whether backward needs them or not; the rest runs again.

#include "workloads/step_work.hpp"

#include <cstdint>
#include <vector>

namespace stepsim::workloads {

enum class ActionKind : std::uint8_t {
  forward_kernel,
  backward_kernel,
  allocate_activation,
  free_activation,
  allocate_backward_tensor,
  free_backward_tensor,
  allocate_output,
  free_output,  // of a recomputation that ran to the end
  free_input,
  allocate_input_gradient,
  free_output_gradient,
  allocate_parameter_gradient,
  parameter_gradient_written,
};

/// `index` is the place in the module's list that the kind names; unused by the module's own input
/// and output.
struct Action {
  ActionKind kind = ActionKind::forward_kernel;
  std::uint32_t index = 0;
  friend bool operator==(const Action&, const Action&) = default;
};

struct ModuleSchedule {
  std::vector<Action> forward;
  std::vector<Action> recomputation;  // at the beginning of backward
  std::vector<Action> backward;
  std::vector<Action> weight_gradients;  // what of backward runs later
};

enum class EarlyStop : std::uint8_t { no, yes };

ModuleSchedule schedule_module(const ModuleWork& work, Recompute recompute, EarlyStop early_stop);

/// Bytes of a module's activations between its forward and its backward, its input included.
Bytes saved_bytes(const ModuleWork& work, Recompute recompute);

/// Forward kernels that run again in backward, in order.
std::vector<std::uint32_t> recomputed_kernels(const ModuleWork& work, Recompute recompute,
                                              EarlyStop early_stop);

}  // namespace stepsim::workloads
