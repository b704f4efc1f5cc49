#include "workloads/layer_kernels_builder.hpp"

#include "sim/base/error.hpp"

#include <algorithm>

namespace stepsim::workloads {

namespace {

Bytes whole_bytes(double bytes) { return Bytes(static_cast<std::int64_t>(bytes)); }

std::uint32_t place(std::size_t index) { return static_cast<std::uint32_t>(index); }

}  // namespace

ModuleBuilder::ModuleBuilder(const std::vector<Parameter>& parameters, double input_bytes,
                             const KernelStack& stack)
    : stack_(stack) {
  for (const Parameter& parameter : parameters) parameter_names_.push_back(parameter.name);
  tensor("input", input_bytes);
}

ModuleBuilder::Tensor ModuleBuilder::tensor(const std::string& name, double bytes,
                                            sim::BufferKind kind) {
  TensorUse use;
  use.name = name;
  use.bytes = bytes;
  use.kind = kind;
  use.whole = tensors_.size();
  tensors_.push_back(std::move(use));
  return tensors_.size() - 1;
}

ModuleBuilder::Tensor ModuleBuilder::view(Tensor whole, double bytes) {
  const Tensor part = tensor(tensors_[whole].name, bytes);
  tensors_[part].whole = tensors_[whole].whole;
  return part;
}

void ModuleBuilder::forward(Kernel kernel, KernelRole role, const std::vector<Tensor>& reads,
                            const std::vector<Tensor>& writes) {
  push_forward({std::move(kernel), role}, reads, writes);
}

void ModuleBuilder::push_forward(LaunchedKernel launched, const std::vector<Tensor>& reads,
                                 const std::vector<Tensor>& writes) {
  const std::uint32_t now = place(result_.forward.size());
  for (const Tensor read : reads) tensors_[tensors_[read].whole].last_forward_use = now;
  for (const Tensor written : writes) {
    tensors_[written].written_by = now;
    tensors_[written].last_forward_use = now;
  }
  result_.forward.push_back(std::move(launched));
}

void ModuleBuilder::backward(Kernel kernel, KernelRole role, const BackwardUse& use) {
  push_backward({std::move(kernel), role}, use);
}

void ModuleBuilder::push_backward(LaunchedKernel launched, const BackwardUse& use) {
  const std::uint32_t now = place(result_.backward.size());
  for (const Tensor read : use.saved) tensors_[tensors_[read].whole].last_backward_use = now;
  for (const Gradient read : use.reads) gradients_[read].last_use = now;
  for (const Gradient written : use.writes) {
    gradients_[written].written_by = now;
    gradients_[written].last_use = now;
  }
  for (const std::string& parameter : use.parameters) {
    result_.tensors.parameter_gradients.push_back({parameter_place(parameter), now});
  }
  result_.backward.push_back(std::move(launched));
}

namespace {

LaunchedKernel tensor_collective(topology::Collective collective, double bytes) {
  LaunchedKernel launched;
  launched.kernel.name = topology::to_string(collective);
  launched.kind = IssueKind::collective;
  launched.collective = collective;
  launched.bytes = whole_bytes(bytes);
  return launched;
}

LaunchedKernel join() {
  LaunchedKernel launched;
  launched.kernel.name = "join";
  launched.kind = IssueKind::join;
  return launched;
}

}  // namespace

void ModuleBuilder::forward_collective(topology::Collective collective, double bytes,
                                       const std::vector<Tensor>& reads,
                                       const std::vector<Tensor>& writes) {
  push_forward(tensor_collective(collective, bytes), reads, writes);
  push_forward(join(), reads, {});
}

void ModuleBuilder::backward_collective(topology::Collective collective, double bytes,
                                        const BackwardUse& use, Joins joins) {
  push_backward(tensor_collective(collective, bytes), use);
  if (joins == Joins::later) return;
  BackwardUse held;
  held.saved = use.saved;
  held.reads = use.reads;
  push_backward(join(), held);
}

void ModuleBuilder::backward_join(const BackwardUse& held) { push_backward(join(), held); }

void ModuleBuilder::weight_gradient(std::function<void()> operation) {
  if (stack_.delays_weight_gradients) {
    delayed_.push_back(std::move(operation));
  } else {
    operation();
  }
}

ModuleBuilder::Gradient ModuleBuilder::gradient(const std::string& name, double bytes,
                                                sim::BufferKind kind) {
  gradients_.push_back({name, bytes, kind, 0, 0});
  return gradients_.size() - 1;
}

void ModuleBuilder::contribute(Tensor tensor, Gradient gradient) {
  std::vector<Gradient>& parts = tensors_[tensor].gradients;
  parts.push_back(gradient);
  if (!stack_.compile && parts.size() > 1) parts = {add_up(parts)};
}

std::vector<ModuleBuilder::Gradient> ModuleBuilder::take(Tensor tensor) {
  return std::exchange(tensors_[tensor].gradients, {});
}

ModuleBuilder::Gradient ModuleBuilder::take_one(Tensor tensor) {
  const std::vector<Gradient> parts = take(tensor);
  if (parts.empty()) throw InternalError("no gradient reaches " + tensors_[tensor].name);
  return parts.size() == 1 ? parts.front() : add_up(parts);
}

ModuleBuilder::Gradient ModuleBuilder::add_up(const std::vector<Gradient>& parts) {
  const double size = gradients_[parts.front()].bytes;
  const Gradient sum = gradient(gradients_[parts.front()].name, size);
  Streaming work;
  work.bytes_read = size * static_cast<double>(parts.size());
  work.bytes_written = size;
  backward({"gradient_sum", work, 1}, KernelRole::other, {{}, parts, {sum}, {}});
  return sum;
}

std::uint32_t ModuleBuilder::parameter_place(const std::string& name) const {
  for (std::size_t i = 0; i < parameter_names_.size(); ++i) {
    const std::string& full = parameter_names_[i];
    if (full.size() >= name.size() &&
        full.compare(full.size() - name.size(), name.size(), name) == 0 &&
        (full.size() == name.size() || full[full.size() - name.size() - 1] == '.')) {
      return place(i);
    }
  }
  throw InternalError("a kernel writes the gradient of " + name + ", which is no parameter");
}

ModuleKernels ModuleBuilder::finish(Tensor output) {
  const Gradient output_gradient = gradient("output_gradient", bytes(output));
  contribute(output, output_gradient);
  for (auto operation = operations_.rbegin(); operation != operations_.rend(); ++operation) {
    (*operation)();
  }
  std::optional<Gradient> input_gradient;
  if (bytes(input) > 0) input_gradient = take_one(input);
  if (stack_.delays_weight_gradients)
    result_.tensors.weight_gradients_from = place(result_.backward.size());
  for (const auto& operation : delayed_) operation();
  note_activations(output);
  note_gradients(output_gradient, input_gradient);
  return std::move(result_);
}

void ModuleBuilder::note_activations(Tensor output) {
  ModuleWork& work = result_.tensors;
  for (Tensor i = 0; i < tensors_.size(); ++i) {
    const TensorUse& use = tensors_[i];
    if (i == input || i == output || use.whole != i || use.bytes == 0) continue;
    work.activations.push_back({use.name, use.kind, whole_bytes(use.bytes), use.written_by,
                                use.last_forward_use, use.last_backward_use});
  }
  work.input_size = whole_bytes(bytes(input));
  work.output_size = whole_bytes(bytes(output));
  work.input_last_backward_use = tensors_[input].last_backward_use.value_or(0);
  work.output_written_by = tensors_[output].written_by;
}

void ModuleBuilder::note_gradients(Gradient output_gradient,
                                   std::optional<Gradient> input_gradient) {
  ModuleWork& work = result_.tensors;
  for (Gradient i = 0; i < gradients_.size(); ++i) {
    const GradientUse& use = gradients_[i];
    if (i == output_gradient || i == input_gradient || use.bytes == 0) continue;
    work.backward_tensors.push_back(
        {use.name, use.kind, whole_bytes(use.bytes), use.written_by, use.last_use});
  }
  work.output_gradient_last_use = gradients_[output_gradient].last_use;
  if (input_gradient) work.input_gradient_written_by = gradients_[*input_gradient].written_by;
}

}  // namespace stepsim::workloads
