// The reduce side of FSDP2: FSDPParamGroup.post_backward and foreach_reduce.

#include "workloads/fsdp2_emitter.hpp"

namespace stepsim::workloads {

void Fsdp2Emitter::post_backward(Fsdp2Group& group, GradientSync sync) {
  builder_.set_scope("backward/" + group.group->name);
  builder_.host_work(input_.host.post_backward);
  if (sync == GradientSync::later) {
    reshard(group);
    accumulate_unsharded(group);
    return;
  }
  if (group.has_accumulated_gradient) accumulate_unsharded(group);
  reshard(group);
  release_previous_reduce_input();
  wait_for_post_backward(group);
  reduce(group);
}

// Without synchronisation gradients stay unsharded, in reduce precision.
void Fsdp2Emitter::accumulate_unsharded(Fsdp2Group& group) {
  if (group.has_accumulated_gradient) {
    launch(default_stream_, group.kernels.accumulate_unsharded);
    free_unsharded_gradients(group);
    return;
  }
  group.has_accumulated_gradient = true;
  if (group.kernels.cast_unsharded) {
    builder_.allocate(group.buffers.accumulated_gradient);
    launch(default_stream_, *group.kernels.cast_unsharded);
    free_unsharded_gradients(group);
    return;
  }
  free_unsharded_gradients(group);  // autograd's gradients themselves go on as the accumulated ones
  builder_.allocate(group.buffers.accumulated_gradient);
}

void Fsdp2Emitter::release_previous_reduce_input() {
  if (!previous_reduce_input_) return;
  Fsdp2Group& previous = groups_[*previous_reduce_input_];
  builder_.wait(default_stream_, previous.events.reduced);
  builder_.free(previous.buffers.reduce_input);
  previous_reduce_input_.reset();
}

void Fsdp2Emitter::wait_for_post_backward(Fsdp2Group& group) {
  if (!group.post_reduce_pending) return;
  builder_.wait(default_stream_, group.events.post_reduced);
  group.post_reduce_pending = false;
  if (!group.holds_all_reduce_input) return;
  builder_.free(group.buffers.reduce_output);
  group.holds_all_reduce_input = false;
}

void Fsdp2Emitter::reduce(Fsdp2Group& group) {
  builder_.host_work(input_.host.reduce_setup);
  copy_in_gradients(group);
  builder_.wait_stream(reduce_scatter_stream_, default_stream_);
  reduce_scatter(group);
  previous_reduce_input_ = group.index;
  if (is_hybrid()) all_reduce(group);
  const sim::StreamId stream = is_hybrid() ? all_reduce_stream_ : reduce_scatter_stream_;
  if (group.kernels.postdivide) launch(stream, *group.kernels.postdivide);
  store_sharded_gradient(group, stream);
  builder_.record(group.events.post_reduced, stream);
  group.post_reduce_pending = true;
}

void Fsdp2Emitter::copy_in_gradients(Fsdp2Group& group) {
  builder_.allocate(group.buffers.reduce_input);
  if (!group.has_accumulated_gradient) {
    launch(default_stream_, group.kernels.reduce_copy_in);
    free_unsharded_gradients(group);
    return;
  }
  launch(default_stream_, group.kernels.reduce_copy_in_accumulated);
  builder_.free(group.buffers.accumulated_gradient);
  group.has_accumulated_gradient = false;
}

void Fsdp2Emitter::reduce_scatter(Fsdp2Group& group) {
  // The first reduced shard is the gradient itself where no cast is needed.
  const bool becomes_gradient = !group.has_sharded_gradient && !group.kernels.cast_gradient;
  builder_.allocate(becomes_gradient ? group.buffers.sharded_gradient
                                     : group.buffers.reduce_output);
  if (group.kernels.predivide) launch(reduce_scatter_stream_, *group.kernels.predivide);
  if (is_sharded())
    builder_.collective(reduce_scatter_stream_, shard_slot_, group.reduce_scatter,
                        input_.host.collective);
  else
    launch(reduce_scatter_stream_, group.kernels.local_copy);
  builder_.record(group.events.reduced, reduce_scatter_stream_);
}

void Fsdp2Emitter::all_reduce(Fsdp2Group& group) {
  builder_.wait_stream(all_reduce_stream_, reduce_scatter_stream_);
  builder_.collective(all_reduce_stream_, replicate_slot_, group.all_reduce,
                      input_.host.collective);
}

// The reduced shard becomes the gradient, is cast into it, or is added to it.
void Fsdp2Emitter::store_sharded_gradient(Fsdp2Group& group, sim::StreamId stream) {
  const bool first = !group.has_sharded_gradient;
  const bool casts = group.kernels.cast_gradient.has_value();
  group.has_sharded_gradient = true;
  if (first && !casts) return;
  if (casts) {
    builder_.allocate(first ? group.buffers.sharded_gradient : group.buffers.cast_gradient);
    launch(stream, *group.kernels.cast_gradient);
  }
  if (!first) launch(stream, group.kernels.accumulate);
  if (casts && !first) builder_.free(group.buffers.cast_gradient);
  // FSDP2 keeps the all-reduce's input until it next waits for this group.
  if (is_hybrid())
    group.holds_all_reduce_input = true;
  else
    builder_.free(group.buffers.reduce_output);
}

void Fsdp2Emitter::free_unsharded_gradients(Fsdp2Group& group) {
  for (const std::uint32_t parameter : group.gradients) builder_.free(gradient_buffers_[parameter]);
  group.gradients.clear();
}

}  // namespace stepsim::workloads
