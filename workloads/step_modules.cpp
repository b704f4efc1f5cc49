#include "workloads/step_modules.hpp"

#include "workloads/host_launch_costs.hpp"
#include "workloads/layer_kernels.hpp"
#include "workloads/optimizer_kernels.hpp"

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
        stack_{input.software.compile, input.software.attention, input.training.precision},
        mode_(launch_mode(input.software.compile, input.software.cuda_graph)) {}

  StepWork make() {
    work_.early_stop = input_.training.checkpoint_early_stop;
    work_.launch_host_time = host_.eager_kernel.value;  // hooks run outside compiled code
    add_module("embedding", add_kind(embedding_kernels(input_.model, batch_, stack_)),
               embedding_parameters(input_.model));
    for (std::int64_t layer = 0; layer < input_.model.layers; ++layer) {
      add_module("layers." + std::to_string(layer), layer_kind(layer),
                 layer_parameters(input_.model, layer));
      work_.modules.back().recompute = recompute_of(input_.training, layer);
    }
    add_module("head", add_kind(head_kernels(input_.model, batch_, stack_)),
               head_parameters(input_.model));
    add_optimizer();
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
    work.forward = issue(kernels.forward);
    work.backward = issue(kernels.backward);
    work_.kinds.push_back(std::move(work));
    return work_.kinds.size() - 1;
  }

  std::vector<IssuedKernel> issue(const std::vector<LaunchedKernel>& kernels) {
    std::vector<IssuedKernel> issued;
    for (const LaunchedKernel& kernel : kernels)
      issued.push_back(
          {costs_.kernel(kernel.kernel), issue_time(kernel.kernel, mode_, host_), kernel.role});
    // A captured module is launched as one, before its first kernel.
    if (mode_ == LaunchMode::graph && !issued.empty())
      issued.front().host_time = host_.graph_launch.value;
    return issued;
  }

  IssuedKernel issue_eagerly(const Kernel& kernel) {
    return {costs_.kernel(kernel), issue_time(kernel, LaunchMode::eager, host_), KernelRole::other};
  }

  void add_optimizer() {
    OptimizerWork work;
    // The kernels count fp32; half as wide parameters, gradients and moments move half as much.
    work.elements = input_.optimizer_elements * bytes_of(input_.training.parameter_precision) / 4;
    work.tensors = input_.optimizer_tensors;
    const std::vector<Kernel> clipping = gradient_clipping_kernels(work);
    work_.gradient_norm = issue_eagerly(clipping.at(0));
    work_.gradient_clip = issue_eagerly(clipping.at(1));
    const OptimizerForm form =
        input_.software.fused_optimizer ? OptimizerForm::fused : OptimizerForm::foreach;
    for (const Kernel& kernel : adamw_kernels(work, form))
      work_.optimizer.push_back(issue_eagerly(kernel));
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
  HostCosts host_ = default_host_costs();
  LaunchMode mode_;
  StepWork work_;
  std::map<std::string, std::uint32_t> parameter_ids_;
  std::map<std::optional<std::int64_t>, std::size_t> kind_of_window_;
};

Recompute selective(const Training& training, std::int64_t layer) {
  switch (training.selective_policy) {
    case SelectivePolicy::op:
      return Recompute::selected_ops;
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
