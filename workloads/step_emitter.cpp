#include "workloads/step_emitter.hpp"

#include <map>
#include <utility>

namespace stepsim::workloads {

StepEmitter::StepEmitter(const StepWork& work, sim::ProgramBuilder& builder, sim::StreamId compute)
    : work_(work), builder_(builder), compute_(compute) {
  add_schedules();
  add_buffers();
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

void StepEmitter::add_buffers() {
  using sim::BufferKind;
  for (const Module& module : work_.modules) {
    const ModuleWork& work = work_.kinds[module.work];
    const auto name = [&](const std::string& tensor) { return module.name + "/" + tensor; };
    ModuleBuffers buffers;
    for (const ActivationTensor& tensor : work.activations)
      buffers.activations.push_back(
          builder_.add_buffer(name(tensor.name), tensor.kind, tensor.size));
    for (const BackwardTensor& tensor : work.backward_tensors)
      buffers.backward_tensors.push_back(
          builder_.add_buffer(name(tensor.name), tensor.kind, tensor.size));
    buffers_.push_back(std::move(buffers));
    inputs_.push_back(builder_.add_buffer(name("input"), BufferKind::activations, work.input_size));
    input_gradients_.push_back(
        builder_.add_buffer(name("input_gradient"), BufferKind::activations, work.input_size));
  }
}

void StepEmitter::count_gradient_writers() {
  writers_.assign(work_.parameters.size(), 0);
  written_.assign(work_.parameters.size(), 0);
  for (const Module& module : work_.modules)
    for (const ParameterGradient& gradient : work_.kinds[module.work].parameter_gradients)
      ++writers_[module.parameters[gradient.parameter]];
}

void StepEmitter::forward(std::size_t module) {
  builder_.set_scope("forward/" + work_.modules[module].name);
  issue(module, schedules_[schedule_of_[module]].forward, nullptr);
}

void StepEmitter::backward(std::size_t module, GradientListener& listener) {
  const ModuleSchedule& schedule = schedules_[schedule_of_[module]];
  if (!schedule.recomputation.empty()) {
    builder_.set_scope("recomputation/" + work_.modules[module].name);
    issue(module, schedule.recomputation, nullptr);
  }
  builder_.set_scope("backward/" + work_.modules[module].name);
  issue(module, schedule.backward, &listener);
}

void StepEmitter::issue(std::size_t module, const std::vector<Action>& actions,
                        GradientListener* listener) {
  const Module& here = work_.modules[module];
  const ModuleWork& work = work_.kinds[here.work];
  const ModuleBuffers& buffers = buffers_[module];
  const bool has_input = module > 0;  // the first takes token ids
  const bool has_next = module + 1 < work_.modules.size();
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
        if (has_next) builder_.allocate(inputs_[module + 1]);
        break;
      case ActionKind::free_output:
        if (has_next) builder_.free(inputs_[module + 1]);
        break;
      case ActionKind::free_input:
        if (has_input) builder_.free(inputs_[module]);
        break;
      case ActionKind::allocate_input_gradient:
        if (has_input) builder_.allocate(input_gradients_[module]);
        break;
      case ActionKind::free_output_gradient:
        if (has_next) builder_.free(input_gradients_[module + 1]);
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
  builder_.kernel(compute_, kernel.kernel, kernel.host_time);
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
