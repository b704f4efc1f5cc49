#pragma once

/// What a step computes, module by module (embedding, blocks, head with loss), with every kernel
/// already a row of the job's cost table and every tensor with its life time. Strategies
/// (fsdp2.hpp, ddp.hpp) put communication around it; they never look at the model itself.
///
/// Kernels of a module are numbered by their place in its `forward` or `backward` list; tensors say
/// between which kernels they live. A module's input is the output of the module before it.

#include "workloads/model.hpp"

#include "sim/ids.hpp"
#include "sim/program.hpp"

#include "sim/base/units.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stepsim::workloads {

/// What selective checkpointing asks of a kernel: is its output dear enough to keep?
enum class KernelRole : std::uint8_t { matrix_product, attention, attention_matrix, other };

/// Lists of kernels also hold the collectives of tensor parallelism in their places.
enum class IssueKind : std::uint8_t {
  kernel,
  collective,  // of the tensor group, once everything before it is computed
  join,        // what follows waits for the collectives before it
};

struct IssuedKernel {
  sim::KernelId kernel;
  Time host_time;
  KernelRole role = KernelRole::other;
  IssueKind kind = IssueKind::kernel;
  sim::CollectiveId collective{};
};

/// A tensor that forward writes. It is allocated before the kernel that writes it.
struct ActivationTensor {
  std::string name;
  sim::BufferKind kind = sim::BufferKind::activations;
  Bytes size;
  std::uint32_t written_by = 0;                    // forward kernel
  std::uint32_t last_forward_use = 0;              // forward kernel, not before written_by
  std::optional<std::uint32_t> last_backward_use;  // backward kernel; absent: not saved
};

/// A tensor that lives only inside backward: a gradient of an activation, or workspace.
struct BackwardTensor {
  std::string name;
  sim::BufferKind kind = sim::BufferKind::activations;
  Bytes size;
  std::uint32_t written_by = 0;
  std::uint32_t last_use = 0;
};

/// The gradient of one parameter of the module, and the backward kernel that completes it.
struct ParameterGradient {
  std::uint32_t parameter = 0;  // place in Module::parameters
  std::uint32_t written_by = 0;
};

/// The work of one kind of module; equal blocks share one.
struct ModuleWork {
  std::vector<IssuedKernel> forward;
  std::vector<IssuedKernel> backward;
  std::vector<ActivationTensor> activations;
  std::vector<BackwardTensor> backward_tensors;
  std::vector<ParameterGradient> parameter_gradients;
  /// Backward kernels from here on only make weight gradients and run later. Absent: backward is in
  /// one piece.
  std::optional<std::uint32_t> weight_gradients_from;

  Bytes input_size;  // the first module takes token ids: 0
  Bytes output_size;
  std::uint32_t input_last_backward_use = 0;    // backward kernel
  std::uint32_t output_written_by = 0;          // forward kernel
  std::uint32_t input_gradient_written_by = 0;  // backward kernel
  std::uint32_t output_gradient_last_use = 0;   // backward kernel
};

/// How a module treats its activations.
enum class Recompute : std::uint8_t {
  nothing,
  selected_ops,        // keep outputs of attention and of every second matrix product
  attention_matrices,  // keep all but the attention matrices
  everything,          // keep the module's input only
};

struct Module {
  std::string name;      // «embedding», «layers.3», «head»
  std::size_t work = 0;  // row of StepWork::kinds
  Recompute recompute = Recompute::nothing;
  std::vector<std::uint32_t>
      parameters;  // rows of StepWork::parameters; a tied weight stands twice
};

/// Modules that follow each other on a rank: the whole model, or one of its pipeline stages.
struct ModuleChunk {
  std::size_t first = 0;
  std::size_t end = 0;
  bool has_input = false;   // its first module takes activations, not token ids
  bool has_output = false;  // its last module hands activations on, not a loss
};

struct StepWork {
  std::vector<ModuleWork> kinds;
  std::vector<Module> modules;        // in forward order, chunk by chunk
  std::vector<ModuleChunk> chunks;    // empty: all modules are one chunk without in- and output
  std::vector<Parameter> parameters;  // in registration order, each once
  bool early_stop = true;             // recomputation stops at the last tensor backward needs
  /// Host time of launching one kernel that a strategy adds (copies, casts, reductions).
  Time launch_host_time;
  /// Over the gradients of the parameters this rank updates: their norm, then their scaling.
  IssuedKernel gradient_norm;
  IssuedKernel gradient_clip;
  /// The optimizer's kernels over the parameters this rank updates.
  std::vector<IssuedKernel> optimizer;
};

}  // namespace stepsim::workloads
