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
        stack_(stack_of(input)),
        // Megatron-LM fuses by hand-written kernels, which Python launches one by one.
        mode_(launch_mode(input.software.compile && !input.megatron, input.software.cuda_graph)) {}

  StepWork make() {
    work_.early_stop = input_.training.checkpoint_early_stop;
    work_.launch_host_time = host_.eager_kernel.value;  // hooks run outside compiled code
    if (input_.chunks.empty()) add_content({true, 0, input_.model.layers, true});
    for (const StageContent& content : input_.chunks) add_chunk(content);
    add_optimizer();
    return std::move(work_);
  }

 private:
  static KernelStack stack_of(const StepModel& input) {
    KernelStack stack{input.software.compile, input.software.attention, input.training.precision};
    if (!input.megatron) return stack;
    stack.megatron = true;
    stack.tensor = input.megatron->tensor;
    stack.delays_weight_gradients = input.megatron->delays_weight_gradients;
    return stack;
  }

  void add_chunk(const StageContent& content) {
    ModuleChunk chunk;
    chunk.first = work_.modules.size();
    chunk.has_input = !content.embedding;
    chunk.has_output = !content.head;
    add_content(content);
    chunk.end = work_.modules.size();
    work_.chunks.push_back(chunk);
  }

  void add_content(const StageContent& content) {
    if (content.embedding)
      add_module("embedding", add_kind(embedding_kernels(input_.model, batch_, stack_)),
                 embedding_parameters(input_.model));
    for (std::int64_t i = 0; i < content.layers; ++i) {
      const std::int64_t layer = content.first_layer + i;
      add_module("layers." + std::to_string(layer), layer_kind(layer),
                 layer_parameters(input_.model, layer));
      work_.modules.back().recompute = recompute_of(input_.training, layer);
    }
    if (content.head)
      add_module("head", add_kind(head_kernels(input_.model, batch_, stack_)),
                 head_parameters(input_.model));
  }

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
    for (const LaunchedKernel& kernel : kernels) issued.push_back(issue(kernel));
    // A captured module is launched as one, before its first kernel.
    if (mode_ == LaunchMode::graph && !issued.empty())
      issued.front().host_time = host_.graph_launch.value;
    return issued;
  }

  IssuedKernel issue(const LaunchedKernel& kernel) {
    if (kernel.kind == IssueKind::kernel)
      return {costs_.kernel(kernel.kernel), issue_time(kernel.kernel, mode_, host_), kernel.role};
    IssuedKernel issued;
    issued.kind = kernel.kind;
    if (kernel.kind == IssueKind::join) return issued;
    issued.host_time = input_.megatron->collective_host_time;
    issued.collective = costs_.collective(kernel.collective, "tensor", kernel.bytes);
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
    work.writes_low_precision_copy =
        input_.megatron && input_.training.precision != input_.training.parameter_precision;
    const std::vector<Kernel> clipping = gradient_clipping_kernels(work);
    work_.gradient_norm = issue_eagerly(clipping.at(0));
    work_.gradient_clip = issue_eagerly(clipping.at(1));
    for (const Kernel& kernel : adamw_kernels(work, OptimizerForm::fused))
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
