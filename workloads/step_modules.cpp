#include "workloads/step_modules.hpp"

#include "workloads/layer_kernels.hpp"

#include "sim/base/error.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stepsim::workloads {
namespace {

class ModuleMaker {
 public:
  ModuleMaker(const StepModel& input, StepCosts& costs)
      : input_(input),
        costs_(costs),
        batch_{input.training.micro_batch, input.training.sequence_length},
        stack_{input.software.compile, input.software.attention, input.training.precision} {}

  StepWork make() {
    work_.early_stop = input_.training.checkpoint_early_stop;
    work_.launch_host_time = launch_time(1);
    add_module("embedding", add_kind(embedding_kernels(input_.model, batch_, stack_)),
               embedding_parameters(input_.model));
    for (std::int64_t layer = 0; layer < input_.model.layers; ++layer) {
      add_module("layers." + std::to_string(layer), layer_kind(layer),
                 layer_parameters(input_.model, layer));
      work_.modules.back().recompute = recompute_of(input_.training, layer);
    }
    add_module("head", add_kind(head_kernels(input_.model, batch_, stack_)),
               head_parameters(input_.model));
    for (const Kernel& kernel :
         optimizer_kernels(input_.optimizer_elements, input_.training.parameter_precision))
      work_.optimizer.push_back(issue({kernel, KernelRole::other}));
    return std::move(work_);
  }

 private:
  /// Blocks that look at equally many past tokens do the same work.
  std::size_t layer_kind(std::int64_t layer) {
    const std::optional<std::int64_t> window = input_.model.span(layer).window;
    const auto known = kind_of_window_.find(window);
    if (known != kind_of_window_.end()) return known->second;
    const std::size_t kind = add_kind(layer_kernels(input_.model, layer, batch_, stack_));
    kind_of_window_.emplace(window, kind);
    return kind;
  }

  std::size_t add_kind(ModuleKernels kernels) {
    ModuleWork work = std::move(kernels.tensors);
    for (const LaunchedKernel& kernel : kernels.forward) work.forward.push_back(issue(kernel));
    for (const LaunchedKernel& kernel : kernels.backward) work.backward.push_back(issue(kernel));
    work_.kinds.push_back(std::move(work));
    return work_.kinds.size() - 1;
  }

  IssuedKernel issue(const LaunchedKernel& kernel) {
    return {costs_.kernel(kernel.kernel), launch_time(kernel.kernel.launches), kernel.role};
  }

  Time launch_time(int launches) const {
    return launch_host_time(input_.software) * static_cast<std::int64_t>(launches);
  }

  void add_module(std::string name, std::size_t kind, std::vector<Parameter> parameters) {
    Module module;
    module.name = std::move(name);
    module.work = kind;
    for (Parameter& parameter : parameters) {
      const auto [it, is_new] = parameter_ids_.try_emplace(
          parameter.name, static_cast<std::uint32_t>(work_.parameters.size()));
      if (is_new) work_.parameters.push_back(std::move(parameter));
      module.parameters.push_back(it->second);
    }
    work_.modules.push_back(std::move(module));
  }

  const StepModel& input_;
  StepCosts& costs_;
  TokenBatch batch_;
  KernelStack stack_;
  StepWork work_;
  std::map<std::string, std::uint32_t> parameter_ids_;
  std::map<std::optional<std::int64_t>, std::size_t> kind_of_window_;
};

Recompute selective(const Training& training, std::int64_t layer) {
  switch (training.selective_policy) {
    case SelectivePolicy::op:
      return Recompute::all_but_products;
    case SelectivePolicy::core_attention:
      return Recompute::attention_matrices;
    case SelectivePolicy::every_n:
      return (layer + 1) % training.checkpoint_every_n == 0 ? Recompute::everything
                                                            : Recompute::nothing;
  }
  return Recompute::nothing;
}

}  // namespace

Recompute recompute_of(const Training& training, std::int64_t layer) {
  switch (training.activation_checkpointing) {
    case CheckpointKind::none:
      return Recompute::nothing;
    case CheckpointKind::selective:
      return selective(training, layer);
    case CheckpointKind::full:
      return Recompute::everything;
  }
  return Recompute::nothing;
}

StepWork make_step_work(const StepModel& input, StepCosts& costs) {
  return ModuleMaker(input, costs).make();
}

}  // namespace stepsim::workloads
