// The order of an FSDP2 step: forward and backward of every micro-batch with the hooks of
// FSDPState around the modules, then gradient clipping and the optimizer.

#include "workloads/fsdp2.hpp"

#include "workloads/fsdp2_emitter.hpp"

#include <algorithm>

namespace stepsim::workloads {
sim::Program emit_fsdp2(const Fsdp2Input& input, StepCosts& costs) {
  return Fsdp2Emitter(input, costs).emit();
}

Fsdp2Emitter::Fsdp2Emitter(const Fsdp2Input& input, StepCosts& costs)
    : input_(input),
      costs_(costs),
      builder_("fsdp2"),
      default_stream_(builder_.add_stream("default", sim::StreamKind::compute)),
      compute_(input.work, builder_, default_stream_),
      parameter_groups_(fsdp2_groups(input.work, input.plan)) {
  add_streams();
  add_buffers();
}

void Fsdp2Emitter::add_streams() {
  using sim::StreamKind;
  copy_in_stream_ = builder_.add_stream("all_gather_copy_in", StreamKind::copy);
  all_gather_stream_ = builder_.add_stream("all_gather", StreamKind::communication);
  reduce_scatter_stream_ = builder_.add_stream("reduce_scatter", StreamKind::communication);
  if (is_sharded()) {
    process_group_stream_ = builder_.add_stream("process_group", StreamKind::communication);
    shard_slot_ = builder_.add_communicator_slot("shard");
  }
  if (is_hybrid()) {
    all_reduce_stream_ = builder_.add_stream("all_reduce", StreamKind::communication);
    replicate_slot_ = builder_.add_communicator_slot("replicate");
  }
}

void Fsdp2Emitter::add_buffers() {
  const StepWork& work = input_.work;
  group_of_module_.assign(work.modules.size(), parameter_groups_.size());
  group_of_parameter_.assign(work.parameters.size(), parameter_groups_.size());
  for (std::size_t g = 0; g < parameter_groups_.size(); ++g) {
    const ParameterGroup& group = parameter_groups_[g];
    groups_.push_back(make_fsdp2_group(group, g, input_, costs_, builder_));
    for (const std::size_t module : group.modules) group_of_module_[module] = g;
    for (const std::uint32_t parameter : group.parameters) group_of_parameter_[parameter] = g;
  }
  for (const Parameter& parameter : work.parameters)
    gradient_buffers_.push_back(
        builder_.add_buffer(parameter.name + "/gradient", sim::BufferKind::unsharded_gradients,
                            Bytes(parameter.count()) * bytes_of(input_.training.precision)));
}

sim::Program Fsdp2Emitter::emit() {
  for (std::int64_t m = 0; m < input_.micro_batches; ++m) {
    const bool is_last = m + 1 == input_.micro_batches;
    forward();
    backward(is_last || input_.training.gradient_sync_every_micro_batch ? GradientSync::now
                                                                        : GradientSync::later);
  }
  clip_gradient_norm();
  step_optimizer();
  return builder_.finish();
}

void Fsdp2Emitter::forward() {
  training_state_ = TrainingState::forward;
  root_pre_forward();
  for (std::size_t module = 0; module < input_.work.modules.size(); ++module) {
    const std::size_t g = group_of_module_[module];
    const bool has_group = g < groups_.size();
    if (has_group && groups_[g].group->modules.front() == module) pre_forward(groups_[g]);
    compute_.forward(module);
    if (has_group && groups_[g].group->modules.back() == module) post_forward(groups_[g]);
  }
  root_post_forward();
}

void Fsdp2Emitter::root_pre_forward() {
  builder_.set_scope("forward/root");
  builder_.wait_stream(copy_in_stream_, default_stream_);
  builder_.wait_stream(all_gather_stream_, default_stream_);
}

void Fsdp2Emitter::root_post_forward() { release_kept_gather(); }

void Fsdp2Emitter::pre_forward(Fsdp2Group& group) {
  builder_.set_scope("forward/" + group.group->name);
  builder_.host_work(input_.host.pre_forward);
  unshard(group);
  wait_for_unshard(group);
}

void Fsdp2Emitter::post_forward(Fsdp2Group& group) {
  builder_.host_work(input_.host.post_forward);
  if (group.group->reshard_after_forward) reshard(group);
  group.post_forward_indices.push_back(post_forward_order_.size());
  post_forward_order_.push_back(group.index);
}

void Fsdp2Emitter::backward(GradientSync sync) {
  training_state_ = TrainingState::backward;
  for (std::size_t module = input_.work.modules.size(); module-- > 0;) {
    const std::size_t g = group_of_module_[module];
    const bool has_group = g < groups_.size();
    if (has_group && groups_[g].group->modules.back() == module) pre_backward(groups_[g]);
    compute_.backward(module, *this);
    // Token ids need no gradient, so the hook of the first module never fires: see the callback.
    if (has_group && module > 0 && groups_[g].group->modules.front() == module)
      post_backward(groups_[g], sync);
  }
  root_final_callback(sync);
}

void Fsdp2Emitter::pre_backward(Fsdp2Group& group) {
  builder_.set_scope("backward/" + group.group->name);
  builder_.host_work(input_.host.pre_backward);
  unshard(group);
  wait_for_unshard(group);
  prefetch_previous(group);
}

void Fsdp2Emitter::root_final_callback(GradientSync sync) {
  builder_.set_scope("backward/root");
  builder_.host_work(input_.host.root_callback);
  for (Fsdp2Group& group : groups_) {
    if (group.is_unsharded) post_backward(group, sync);
    wait_for_post_backward(group);
    group.post_forward_indices.clear();
  }
  builder_.set_scope("backward/root");
  post_forward_order_.clear();
  release_previous_reduce_input();
}

// clip_grad_norm_ over sharded gradients: local norms, a sum over the shards on the process group's
// own stream, then all gradients are scaled.
void Fsdp2Emitter::clip_gradient_norm() {
  builder_.set_scope("gradient_norm");
  const IssuedKernel& norm = input_.work.gradient_norm;
  builder_.kernel(default_stream_, norm.kernel, norm.host_time);
  if (is_sharded()) {
    builder_.wait_stream(process_group_stream_, default_stream_);
    builder_.collective(process_group_stream_, shard_slot_,
                        costs_.collective(topology::Collective::all_reduce, "shard", Bytes(4)),
                        input_.host.collective);
    builder_.wait_stream(default_stream_, process_group_stream_);
  }
  const IssuedKernel& clip = input_.work.gradient_clip;
  builder_.kernel(default_stream_, clip.kernel, clip.host_time);
}

void Fsdp2Emitter::step_optimizer() {
  builder_.set_scope("optimizer");
  for (const IssuedKernel& kernel : input_.work.optimizer)
    builder_.kernel(default_stream_, kernel.kernel, kernel.host_time);
  // zero_grad: gradients are given back before the next forward, whoever calls it when.
  for (Fsdp2Group& group : groups_)
    if (group.has_sharded_gradient) builder_.free(group.buffers.sharded_gradient);
}

void Fsdp2Emitter::allocate_gradient(std::uint32_t parameter) {
  builder_.allocate(gradient_buffers_[parameter]);
  groups_[group_of_parameter_[parameter]].gradients.push_back(parameter);
}

void Fsdp2Emitter::gradient_ready(std::uint32_t) {}  // a group reduces when all of it is ready

void Fsdp2Emitter::launch(sim::StreamId stream, sim::KernelId kernel) {
  builder_.kernel(stream, kernel, input_.work.launch_host_time);
}

}  // namespace stepsim::workloads
