#pragma once

/// PyTorch DistributedDataParallel as a program: every rank holds the whole model; gradients are
/// all-reduced bucket by bucket beside the rest of backward. docs/ddp.md walks through it.
///
/// Streams: default (compute, bucket copies) and all_reduce (the process group's own stream).
/// Micro-batches but the last run under no_sync and add their gradients up locally.

#include "workloads/ddp_buckets.hpp"
#include "workloads/plan.hpp"
#include "workloads/step_costs.hpp"
#include "workloads/step_work.hpp"

#include "sim/program.hpp"

#include "sim/base/sourced_number.hpp"
#include "sim/base/units.hpp"

namespace stepsim::workloads {

/// Host time of what DDP does besides launching kernels. Assumed: hooks run in C++ from autograd's
/// thread, so they are short beside FSDP's; a collective's launch is 15 to 30 us in public
/// profiles.
struct DdpHostCosts {
  Time forward = Time::microseconds(50);
  Time gradient_hook = Time::microseconds(5);
  Time collective = Time::microseconds(20);
  Time finalize = Time::microseconds(50);
  Source source{SourceKind::assumed, "not measured; middle of public figures"};
};

struct DdpInput {
  const StepWork& work;
  const Plan& plan;
  const Training& training;
  std::int64_t micro_batches = 1;
  DdpHostCosts host;
};

/// The program every rank runs. Slot 0 is the communicator «replicate» when plan.replicate > 1.
sim::Program emit_ddp(const DdpInput& input, StepCosts& costs);

/// Bytes of one bucket's all-reduce.
Bytes all_reduce_bytes(const DdpBucket& bucket, const Training& training);

}  // namespace stepsim::workloads
