#include "workloads/step_emitter.hpp"

#include <map>
#include <utility>

namespace stepsim::workloads {

StepEmitter::StepEmitter(const StepWork& work, sim::ProgramBuilder& builder, sim::StreamId compute,
                         std::optional<TensorGroup> tensor)
    : work_(work),
      builder_(builder),
      compute_(compute),
      buffers_(work.modules.size()),
      tensor_(tensor) {
  add_schedules();
  find_ends();
  count_gradient_writers();
}

void StepEmitter::add_schedules() {
  const EarlyStop early_stop = work_.early_stop ? EarlyStop::yes : EarlyStop::no;
  std::map<std::pair<std::size_t, Recompute>, std::size_t> known;
  for (const Module& module : work_.modules) {
    const auto [it, is_new] = known.try_emplace({module.work, module.recompute}, schedules_.size());
    if (is_new)
      schedules_.push_back(schedule_module(work_.kinds[module.work], module.recompute, early_stop));
    schedule_of_.push_back(it->second);
  }
}

void StepEmitter::find_ends() {
  ends_.resize(work_.modules.size());
  std::vector<ModuleChunk> chunks = work_.chunks;
  if (chunks.empty()) chunks.push_back({0, work_.modules.size(), false, false});
  for (const ModuleChunk& chunk : chunks) {
    for (std::size_t m = chunk.first; m < chunk.end; ++m) {
      ends_[m].has_input = m > chunk.first || chunk.has_input;
      ends_[m].is_last_of_chunk = m + 1 == chunk.end;
      ends_[m].has_output = !ends_[m].is_last_of_chunk || chunk.has_output;
    }
  }
}

StepEmitter::ModuleBuffers& StepEmitter::at(std::size_t module, std::size_t set) {
  std::vector<ModuleBuffers>& sets = buffers_[module];
  while (sets.size() <= set) sets.push_back(add_buffers(module, sets.size()));
  return sets[set];
}

StepEmitter::ModuleBuffers StepEmitter::add_buffers(std::size_t module, std::size_t set) {
  using sim::BufferKind;
  const Module& here = work_.modules[module];
  const ModuleWork& work = work_.kinds[here.work];
  const std::string suffix = set == 0 ? "" : "/set " + std::to_string(set);
  const auto add = [&](const std::string& tensor, BufferKind kind, Bytes size) {
    return builder_.add_buffer(here.name + '/' + tensor + suffix, kind, size);
  };
  ModuleBuffers buffers;
  for (const ActivationTensor& tensor : work.activations)
    buffers.activations.push_back(add(tensor.name, tensor.kind, tensor.size));
  for (const BackwardTensor& tensor : work.backward_tensors)
    buffers.backward_tensors.push_back(add(tensor.name, tensor.kind, tensor.size));
  if (ends_[module].has_input) {
    buffers.input = add("input", BufferKind::activations, work.input_size);
    buffers.input_gradient = add("input_gradient", BufferKind::activations, work.input_size);
  }
  if (ends_[module].is_last_of_chunk && ends_[module].has_output) {
    buffers.output = add("output", BufferKind::activations, work.output_size);
    buffers.output_gradient = add("output_gradient", BufferKind::activations, work.output_size);
  }
  return buffers;
}

sim::BufferId StepEmitter::output(std::size_t module, std::size_t set) {
  return ends_[module].is_last_of_chunk ? at(module, set).output : at(module + 1, set).input;
}

sim::BufferId StepEmitter::output_gradient(std::size_t module, std::size_t set) {
  return ends_[module].is_last_of_chunk ? at(module, set).output_gradient
                                        : at(module + 1, set).input_gradient;
}

void StepEmitter::count_gradient_writers() {
  writers_.assign(work_.parameters.size(), 0);
  written_.assign(work_.parameters.size(), 0);
  for (const Module& module : work_.modules)
    for (const ParameterGradient& gradient : work_.kinds[module.work].parameter_gradients)
      ++writers_[module.parameters[gradient.parameter]];
}

void StepEmitter::forward(std::size_t module, std::size_t set) {
  builder_.set_scope("forward/" + work_.modules[module].name);
  issue(module, set, schedules_[schedule_of_[module]].forward, nullptr);
}

void StepEmitter::backward(std::size_t module, GradientListener& listener, std::size_t set) {
  const ModuleSchedule& schedule = schedules_[schedule_of_[module]];
  if (!schedule.recomputation.empty()) {
    builder_.set_scope("recomputation/" + work_.modules[module].name);
    issue(module, set, schedule.recomputation, nullptr);
  }
  builder_.set_scope("backward/" + work_.modules[module].name);
  issue(module, set, schedule.backward, &listener);
}

void StepEmitter::weight_gradients(std::size_t module, GradientListener& listener,
                                   std::size_t set) {
  builder_.set_scope("weight_gradients/" + work_.modules[module].name);
  issue(module, set, schedules_[schedule_of_[module]].weight_gradients, &listener);
}

void StepEmitter::issue(std::size_t module, std::size_t set, const std::vector<Action>& actions,
                        GradientListener* listener) {
  const Module& here = work_.modules[module];
  const ModuleWork& work = work_.kinds[here.work];
  const ModuleBuffers& buffers = at(module, set);
  const Ends& ends = ends_[module];
  const auto parameter = [&](const Action& action) {
    return here.parameters[work.parameter_gradients[action.index].parameter];
  };
  for (const Action& action : actions) {
    switch (action.kind) {
      case ActionKind::forward_kernel:
        issue_kernel(work.forward[action.index]);
        break;
      case ActionKind::backward_kernel:
        issue_kernel(work.backward[action.index]);
        break;
      case ActionKind::allocate_activation:
        builder_.allocate(buffers.activations[action.index]);
        break;
      case ActionKind::free_activation:
        builder_.free(buffers.activations[action.index]);
        break;
      case ActionKind::allocate_backward_tensor:
        builder_.allocate(buffers.backward_tensors[action.index]);
        break;
      case ActionKind::free_backward_tensor:
        builder_.free(buffers.backward_tensors[action.index]);
        break;
      case ActionKind::allocate_output:
        if (ends.has_output) builder_.allocate(output(module, set));
        break;
      case ActionKind::free_output:
        if (ends.has_output) builder_.free(output(module, set));
        break;
      case ActionKind::free_input:
        if (ends.has_input) builder_.free(buffers.input);
        break;
      case ActionKind::allocate_input_gradient:
        if (ends.has_input) builder_.allocate(buffers.input_gradient);
        break;
      case ActionKind::free_output_gradient:
        if (ends.has_output) builder_.free(output_gradient(module, set));
        break;
      case ActionKind::allocate_parameter_gradient:
        allocate_gradient(parameter(action), *listener);
        break;
      case ActionKind::parameter_gradient_written:
        gradient_written(parameter(action), *listener);
        break;
    }
  }
}

void StepEmitter::issue_kernel(const IssuedKernel& kernel) {
  switch (kernel.kind) {
    case IssueKind::kernel:
      builder_.kernel(compute_, kernel.kernel, kernel.host_time);
      return;
    case IssueKind::collective:
      builder_.wait_stream(tensor_->stream, compute_);
      builder_.collective(tensor_->stream, tensor_->slot, kernel.collective, kernel.host_time);
      return;
    case IssueKind::join:
      builder_.wait_stream(compute_, tensor_->stream);
      return;
  }
}

void StepEmitter::allocate_gradient(std::uint32_t parameter, GradientListener& listener) {
  if (written_[parameter] == 0) listener.allocate_gradient(parameter);
}

void StepEmitter::gradient_written(std::uint32_t parameter, GradientListener& listener) {
  if (++written_[parameter] < writers_[parameter]) return;
  written_[parameter] = 0;
  listener.gradient_ready(parameter);
}

}  // namespace stepsim::workloads
