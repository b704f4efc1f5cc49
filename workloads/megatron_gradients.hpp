#pragma once

/// Private to megatron.hpp: main gradients in buckets, their reduction over replicas, the end of
/// the step, and the parameters' way back (core/distributed/param_and_grad_buffer.py,
/// finalize_model_grads.py, core/optimizer/distrib_optimizer.py).

#include "workloads/megatron.hpp"
#include "workloads/step_emitter.hpp"

#include "sim/program_builder.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace stepsim::workloads {

/// A run of parameters of one chunk in the order in which their gradients become ready.
struct GradientBucket {
  std::vector<std::uint32_t> parameters;  // rows of StepWork::parameters
  std::int64_t elements = 0;              // padded so that every replica's part is equal
};

/// Parameters in reverse order of registration. A bucket closes when it has reached the limit: with
/// overlap_grad_reduce max(40 million, 1 million × replicas) elements or the plan's bucket_bytes,
/// without it never.
std::vector<GradientBucket> gradient_buckets(const StepWork& work, const ModuleChunk& chunk,
                                             const Plan& plan, const Training& training);

class MegatronGradients final : public GradientListener {
 public:
  /// Where collectives of a group go.
  using Group = StepEmitter::TensorGroup;

  MegatronGradients(const MegatronStage& stage, StepCosts& costs, sim::ProgramBuilder& builder,
                    sim::StreamId compute, std::vector<StageSlot>& slots,
                    std::optional<Group> tensor);

  /// Zeroes the gradients; asks for the first parameters.
  void begin_step();
  /// Before a module's first use in a step.
  void wait_for_parameters(std::size_t module);
  /// What follows is the backward of a chunk, for the last time in the step or not.
  void begin_backward(bool is_last) { synchronises_ = is_last; }
  void end_step();

  void allocate_gradient(std::uint32_t parameter) override;
  void gradient_ready(std::uint32_t parameter) override;

 private:
  struct BucketState {
    GradientBucket bucket;
    sim::EventId reduced;
    sim::EventId gathered;
    sim::CollectiveId reduction;
    sim::CollectiveId gather;
    std::size_t pending = 0;
    bool is_reduced = false;
    bool is_gathering = false;
    bool is_there = false;
  };
  struct ParameterState {
    std::size_t bucket = 0;
    std::optional<sim::BufferId> raw;  // not written into the main gradient by a product
  };

  void add_states();
  std::vector<int> chunks_by_stage() const;
  void add_buckets(StepCosts& costs);
  void add_parameter(std::uint32_t parameter);
  void streaming(const char* name, StreamingKind kind, std::int64_t read, std::int64_t written);
  Group add_group(const char* name);
  void collective(const Group& group, sim::CollectiveId id);
  void reduce(BucketState& bucket);
  void gather(std::size_t place);
  void reduce_sequence_parallel();
  void reduce_embedding();
  void clip();
  void update();

  bool is_replicated() const { return gradient_group_size(stage_.plan) > 1; }
  bool gathers() const { return is_replicated() && stage_.plan.distributed_optimizer; }
  std::int64_t gradient_bytes() const { return bytes_of(stage_.training.reduce_precision); }
  std::int64_t parameter_bytes() const { return bytes_of(stage_.training.precision); }
  std::int64_t count(std::uint32_t parameter) const {
    return stage_.work.parameters[parameter].count();
  }

  const MegatronStage& stage_;
  StepCosts& costs_;
  sim::ProgramBuilder& builder_;
  sim::StreamId compute_;
  std::vector<StageSlot>& slots_;
  std::optional<Group> tensor_;  // each absent when the rank is alone in it
  std::optional<Group> data_;
  std::optional<Group> norm_;
  std::optional<Group> embedding_;
  std::vector<BucketState> buckets_;
  std::vector<std::size_t> forward_order_;  // of buckets_
  std::vector<ParameterState> parameters_;
  std::int64_t elements_ = 0;
  bool synchronises_ = false;
};

}  // namespace stepsim::workloads
