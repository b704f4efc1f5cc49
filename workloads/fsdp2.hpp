#pragma once

/// PyTorch FSDP2 (fully_shard) as a program, hook by hook. The functions of the emitter carry the
/// names of torch/distributed/fsdp/_fully_shard (2.6 to 2.8) that they follow; docs/fsdp2.md walks
/// through them.
///
/// Streams: default (compute, copy-out, gradient copy-in), all_gather_copy_in, all_gather,
/// reduce_scatter, all_reduce (HSDP only), and the process group's own stream for the gradient
/// norm. All-gather and reduce-scatter of one mesh dimension share a communicator, so they run one
/// by one in issue order.

#include "workloads/fsdp2_wrapping.hpp"
#include "workloads/plan.hpp"
#include "workloads/step_costs.hpp"
#include "workloads/step_work.hpp"

#include "sim/program.hpp"

#include "sim/base/sourced_number.hpp"
#include "sim/base/units.hpp"

namespace stepsim::workloads {

/// Host time of what FSDP2 does around a module, kernels' launches not included. Assumed: the few
/// public profiles put all of a group's hooks at 100 to 300 us a use and a collective's launch at
/// 15 to 30 us; these are in the middle of both.
struct Fsdp2HostCosts {
  Time pre_forward = Time::microseconds(20);
  Time post_forward = Time::microseconds(20);
  Time pre_backward = Time::microseconds(30);
  Time post_backward = Time::microseconds(40);
  Time all_gather_setup = Time::microseconds(40);  // split sizes, allocation, casts
  Time copy_out_setup = Time::microseconds(30);    // unsharded parameters are rebuilt one by one
  Time reduce_setup = Time::microseconds(40);
  Time collective = Time::microseconds(20);
  Time root_callback = Time::microseconds(50);
  Source source{SourceKind::assumed,
                "not measured; middle of public figures (100 to 300 us a group)"};
};

struct Fsdp2Input {
  const StepWork& work;
  const Plan& plan;
  const Training& training;
  std::int64_t micro_batches = 1;
  Fsdp2HostCosts host;
};

/// The program every rank runs. Slot 0 is the communicator «shard» when plan.shard > 1; the next is
/// «replicate» when plan.replicate > 1.
sim::Program emit_fsdp2(const Fsdp2Input& input, StepCosts& costs);

}  // namespace stepsim::workloads
