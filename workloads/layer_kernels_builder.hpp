#pragma once

/// Private to the kernel lists: records kernels as a module's forward code would issue them, and
/// derives backward by running the operations' gradients in reverse, as autograd does. Keeps for
/// every tensor which kernels write and read it.

#include "workloads/layer_kernels.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace stepsim::workloads {

class ModuleBuilder {
 public:
  using Tensor = std::size_t;
  using Gradient = std::size_t;

  /// `input_bytes` 0: the module's input is token ids, and has no gradient.
  ModuleBuilder(const std::vector<Parameter>& parameters, double input_bytes,
                const KernelStack& stack);

  static constexpr Tensor input = 0;
  Tensor tensor(const std::string& name, double bytes,
                sim::BufferKind kind = sim::BufferKind::activations);
  /// A part of another tensor: using it uses the whole.
  Tensor view(Tensor whole, double bytes);
  double bytes(Tensor tensor) const { return tensors_[tensor].bytes; }

  void forward(Kernel kernel, KernelRole role, const std::vector<Tensor>& reads,
               const std::vector<Tensor>& writes);
  /// Runs at the end, in the reverse of the order of registration.
  void on_backward(std::function<void()> operation) { operations_.push_back(std::move(operation)); }

  struct BackwardUse {
    std::vector<Tensor> saved;            // forward tensors it reads
    std::vector<Gradient> reads;          // gradients it reads
    std::vector<Gradient> writes;         // gradients it writes
    std::vector<std::string> parameters;  // names within the module, such as «mlp.up.weight»
  };
  void backward(Kernel kernel, KernelRole role, const BackwardUse& use);

  /// Collectives of the tensor group. Blocking ones are followed by a join.
  enum class Joins { now, later };
  void forward_collective(topology::Collective collective, double bytes,
                          const std::vector<Tensor>& reads, const std::vector<Tensor>& writes);
  void backward_collective(topology::Collective collective, double bytes, const BackwardUse& use,
                           Joins joins);
  /// What follows waits for the collectives before it; what they use is held until then.
  void backward_join(const BackwardUse& held);
  /// Runs when all other kernels of backward are there, or at once when weight gradients are not
  /// delayed.
  void weight_gradient(std::function<void()> operation);

  Gradient gradient(const std::string& name, double bytes,
                    sim::BufferKind kind = sim::BufferKind::activations);
  /// Adds to the gradient of a tensor. Eager code sums at once; compiled code leaves the parts to
  /// the kernel that reads them.
  void contribute(Tensor tensor, Gradient gradient);
  /// The parts of a tensor's gradient, taken away.
  std::vector<Gradient> take(Tensor tensor);
  /// The same as one gradient, added up if need be.
  Gradient take_one(Tensor tensor);
  bool has_gradient(Tensor tensor) const { return !tensors_[tensor].gradients.empty(); }

  /// Runs backward from the output's gradient and returns what was recorded.
  ModuleKernels finish(Tensor output);

 private:
  struct TensorUse {
    std::string name;
    double bytes = 0;
    sim::BufferKind kind = sim::BufferKind::activations;
    Tensor whole = 0;  // of a view; itself otherwise
    std::uint32_t written_by = 0;
    std::uint32_t last_forward_use = 0;
    std::optional<std::uint32_t> last_backward_use;
    std::vector<Gradient> gradients;
  };
  struct GradientUse {
    std::string name;
    double bytes = 0;
    sim::BufferKind kind = sim::BufferKind::activations;
    std::uint32_t written_by = 0;
    std::uint32_t last_use = 0;
  };

  Gradient add_up(const std::vector<Gradient>& parts);
  std::uint32_t parameter_place(const std::string& name) const;
  void push_forward(LaunchedKernel launched, const std::vector<Tensor>& reads,
                    const std::vector<Tensor>& writes);
  void push_backward(LaunchedKernel launched, const BackwardUse& use);
  void note_activations(Tensor output);
  void note_gradients(Gradient output_gradient, std::optional<Gradient> input_gradient);

  std::vector<std::string> parameter_names_;
  KernelStack stack_;
  std::vector<TensorUse> tensors_;
  std::vector<GradientUse> gradients_;
  std::vector<std::function<void()>> operations_;
  std::vector<std::function<void()>> delayed_;
  ModuleKernels result_;
};

}  // namespace stepsim::workloads
