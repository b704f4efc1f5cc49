#pragma once

/// The state FSDP2 keeps while a step is issued, and its hooks. Internal to fsdp2*.cpp.
///
/// fsdp2.cpp is the order of the step, fsdp2_gather.cpp the all-gather side, fsdp2_reduce.cpp the
/// reduce side, fsdp2_group.cpp what one group moves.

#include "workloads/fsdp2.hpp"
#include "workloads/fsdp2_group.hpp"
#include "workloads/step_emitter.hpp"

#include "sim/program_builder.hpp"

#include <optional>
#include <vector>

namespace stepsim::workloads {

class Fsdp2Emitter final : public GradientListener {
 public:
  Fsdp2Emitter(const Fsdp2Input& input, StepCosts& costs);
  sim::Program emit();

  void allocate_gradient(std::uint32_t parameter) override;
  void gradient_ready(std::uint32_t parameter) override;

 private:
  enum class TrainingState : std::uint8_t { forward, backward };
  enum class GradientSync : std::uint8_t { later, now };

  // fsdp2.cpp
  void add_streams();
  void add_buffers();
  void forward();
  void backward(GradientSync sync);
  void root_pre_forward();
  void root_post_forward();
  void pre_forward(Fsdp2Group& group);
  void post_forward(Fsdp2Group& group);
  void pre_backward(Fsdp2Group& group);
  void root_final_callback(GradientSync sync);
  void clip_gradient_norm();
  void step_optimizer();

  // fsdp2_gather.cpp
  void unshard(Fsdp2Group& group);
  void all_gather(Fsdp2Group& group);
  void wait_for_unshard(Fsdp2Group& group);
  void copy_out(Fsdp2Group& group);
  void unshard_alone(Fsdp2Group& group);
  void allocate_unsharded(const Fsdp2Group& group);
  void prefetch_previous(Fsdp2Group& group);
  void reshard(Fsdp2Group& group);
  void gather_streams_wait(sim::EventId event);
  void release_kept_gather();

  // fsdp2_reduce.cpp
  void post_backward(Fsdp2Group& group, GradientSync sync);
  void accumulate_unsharded(Fsdp2Group& group);
  void release_previous_reduce_input();
  void wait_for_post_backward(Fsdp2Group& group);
  void reduce(Fsdp2Group& group);
  void copy_in_gradients(Fsdp2Group& group);
  void reduce_scatter(Fsdp2Group& group);
  void all_reduce(Fsdp2Group& group);
  void store_sharded_gradient(Fsdp2Group& group, sim::StreamId stream);
  void free_unsharded_gradients(Fsdp2Group& group);

  void launch(sim::StreamId stream, sim::KernelId kernel);
  bool is_hybrid() const { return input_.plan.replicate > 1; }
  bool is_sharded() const { return input_.plan.shard > 1; }

  const Fsdp2Input& input_;
  StepCosts& costs_;
  sim::ProgramBuilder builder_;
  sim::StreamId default_stream_;
  sim::StreamId copy_in_stream_;
  sim::StreamId all_gather_stream_;
  sim::StreamId reduce_scatter_stream_;
  sim::StreamId all_reduce_stream_;     // hybrid only
  sim::StreamId process_group_stream_;  // sharded only
  sim::SlotId shard_slot_;
  sim::SlotId replicate_slot_;
  StepEmitter compute_;
  std::vector<ParameterGroup> parameter_groups_;
  std::vector<Fsdp2Group> groups_;
  std::vector<std::size_t> group_of_module_;
  std::vector<std::size_t> group_of_parameter_;
  std::vector<sim::BufferId> gradient_buffers_;  // per parameter, unsharded

  // FSDPCommContext: shared by all groups.
  TrainingState training_state_ = TrainingState::forward;
  std::vector<std::size_t> post_forward_order_;
  std::optional<std::size_t> kept_gather_;            // all_gather_state
  std::optional<std::size_t> previous_reduce_input_;  // reduce_scatter_state
};

}  // namespace stepsim::workloads
