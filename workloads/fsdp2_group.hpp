#pragma once

/// One FSDPParamGroup: its buffers, events, and the kernels and collectives that move it. Byte
/// counts are those of fully_shard's fused copies; dim 0 of every parameter is padded.

#include "workloads/fsdp2.hpp"
#include "workloads/fsdp2_wrapping.hpp"
#include "workloads/step_costs.hpp"

#include "sim/program_builder.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace stepsim::workloads {

struct Fsdp2Buffers {
  sim::BufferId gather_input;   // the local shard in compute precision, before its copy-in
  sim::BufferId gather_output;  // the all-gather's buffer
  std::vector<sim::BufferId> unsharded_parameters;  // one a parameter, as fully_shard allocates
  sim::BufferId accumulated_gradient;               // unsharded, in reduce precision
  sim::BufferId reduce_input;
  sim::BufferId reduce_output;  // this rank's shard in reduce precision
  sim::BufferId cast_gradient;  // the same in parameter precision, when it is added and dropped
  sim::BufferId sharded_gradient;
};

struct Fsdp2Kernels {
  std::optional<sim::KernelId> gather_cast;  // absent when stored and compute precision are equal
  sim::KernelId gather_copy_in;
  sim::KernelId copy_out;
  sim::KernelId reduce_copy_in;
  sim::KernelId reduce_copy_in_accumulated;
  sim::KernelId accumulate_unsharded;
  std::optional<sim::KernelId> cast_unsharded;  // to reduce precision, when gradients wait for sync
  std::optional<sim::KernelId> predivide;       // fp16 only
  std::optional<sim::KernelId> postdivide;      // fp16 only
  sim::KernelId local_copy;                     // instead of a reduce-scatter over one rank
  std::optional<sim::KernelId> cast_gradient;
  sim::KernelId accumulate;
};

struct Fsdp2Events {
  sim::EventId gathered;
  sim::EventId copied_out;
  sim::EventId reduced;
  sim::EventId post_reduced;
};

struct Fsdp2Group {
  const ParameterGroup* group = nullptr;
  std::size_t index = 0;
  Fsdp2Buffers buffers;
  Fsdp2Kernels kernels;
  Fsdp2Events events;
  sim::CollectiveId all_gather;
  sim::CollectiveId reduce_scatter;
  sim::CollectiveId all_reduce;

  bool is_unsharded = false;
  bool gather_pending = false;  // issued, not yet waited for
  bool has_accumulated_gradient = false;
  bool has_sharded_gradient = false;
  bool post_reduce_pending = false;
  bool holds_all_reduce_input = false;  // reduce_output, until the next wait for this group
  std::vector<std::size_t> post_forward_indices;
  std::vector<std::uint32_t> gradients;  // parameters whose unsharded gradient is held
};

/// Element sizes of the four places a parameter or its gradient lives.
struct Fsdp2Precision {
  std::int64_t stored = 4;   // sharded parameters, sharded gradients
  std::int64_t compute = 2;  // unsharded parameters and gradients
  std::int64_t reduce = 4;   // reduce-scatter and all-reduce
};
Fsdp2Precision fsdp2_precision(const Training& training);

/// Bytes moved by a group's collectives, counted as full buffers.
Bytes all_gather_bytes(const ParameterGroup& group, const Training& training);
Bytes reduce_scatter_bytes(const ParameterGroup& group, const Training& training);

/// Declares the group's buffers and events and costs what it moves.
Fsdp2Group make_fsdp2_group(const ParameterGroup& group, std::size_t index, const Fsdp2Input& input,
                            StepCosts& costs, sim::ProgramBuilder& builder);

}  // namespace stepsim::workloads
