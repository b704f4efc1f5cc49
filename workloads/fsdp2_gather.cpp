// The all-gather side of FSDP2: FSDPParamGroup.unshard, wait_for_unshard, reshard and the implicit
// prefetch of backward.

#include "workloads/fsdp2_emitter.hpp"

namespace stepsim::workloads {

void Fsdp2Emitter::unshard(Fsdp2Group& group) {
  if (group.gather_pending || group.is_unsharded) return;
  builder_.host_work(input_.host.all_gather_setup);
  group.gather_pending = true;
  if (is_sharded()) all_gather(group);
}

void Fsdp2Emitter::all_gather(Fsdp2Group& group) {
  if (group.kernels.gather_cast) {
    builder_.allocate(group.buffers.gather_input);
    launch(copy_in_stream_, *group.kernels.gather_cast);
  }
  builder_.allocate(group.buffers.gather_output);
  launch(copy_in_stream_, group.kernels.gather_copy_in);
  if (group.kernels.gather_cast) builder_.free(group.buffers.gather_input);
  builder_.wait_stream(all_gather_stream_, copy_in_stream_);
  builder_.collective(all_gather_stream_, shard_slot_, group.all_gather, input_.host.collective);
  builder_.record(group.events.gathered, all_gather_stream_);
}

void Fsdp2Emitter::wait_for_unshard(Fsdp2Group& group) {
  if (!group.gather_pending) return;
  group.gather_pending = false;
  group.is_unsharded = true;
  builder_.host_work(input_.host.copy_out_setup);
  if (!is_sharded()) {
    unshard_alone(group);
    return;
  }
  // The buffer of the group before is given back only now: with the one about to be copied out that
  // makes two, and the gather after next waits for this copy-out.
  if (training_state_ == TrainingState::forward) release_kept_gather();
  copy_out(group);
  if (training_state_ == TrainingState::forward) {
    kept_gather_ = group.index;
    return;
  }
  gather_streams_wait(group.events.copied_out);
  builder_.free(group.buffers.gather_output);
}

void Fsdp2Emitter::copy_out(Fsdp2Group& group) {
  builder_.wait(default_stream_, group.events.gathered);
  allocate_unsharded(group);
  launch(default_stream_, group.kernels.copy_out);
  builder_.record(group.events.copied_out, default_stream_);
}

void Fsdp2Emitter::allocate_unsharded(const Fsdp2Group& group) {
  for (const sim::BufferId buffer : group.buffers.unsharded_parameters) builder_.allocate(buffer);
}

// A mesh dimension of one rank: the parameters are cast and copied, nothing is gathered.
void Fsdp2Emitter::unshard_alone(Fsdp2Group& group) {
  if (group.kernels.gather_cast) {
    builder_.allocate(group.buffers.gather_input);
    launch(default_stream_, *group.kernels.gather_cast);
  }
  allocate_unsharded(group);
  launch(default_stream_, group.kernels.gather_copy_in);
  if (group.kernels.gather_cast) builder_.free(group.buffers.gather_input);
}

void Fsdp2Emitter::release_kept_gather() {
  if (!kept_gather_) return;
  Fsdp2Group& kept = groups_[*kept_gather_];
  gather_streams_wait(kept.events.copied_out);
  builder_.free(kept.buffers.gather_output);
  kept_gather_.reset();
}

void Fsdp2Emitter::gather_streams_wait(sim::EventId event) {
  builder_.wait(copy_in_stream_, event);
  builder_.wait(all_gather_stream_, event);
}

void Fsdp2Emitter::prefetch_previous(Fsdp2Group& group) {
  if (group.post_forward_indices.empty()) return;
  const std::size_t place = group.post_forward_indices.back();
  group.post_forward_indices.pop_back();
  if (place > 0) unshard(groups_[post_forward_order_[place - 1]]);
}

void Fsdp2Emitter::reshard(Fsdp2Group& group) {
  if (!group.is_unsharded) return;
  for (const sim::BufferId buffer : group.buffers.unsharded_parameters) builder_.free(buffer);
  group.is_unsharded = false;
}

}  // namespace stepsim::workloads
