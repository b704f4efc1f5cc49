#pragma once

/// Gradient buckets of PyTorch's DistributedDataParallel.

#include "workloads/plan.hpp"
#include "workloads/step_work.hpp"

#include <cstdint>
#include <vector>

namespace stepsim::workloads {

struct DdpBucket {
  std::vector<std::uint32_t> parameters;  // rows of StepWork::parameters, in the order they fill it
  std::int64_t elements = 0;
};

/// Parameters in the order their gradients become ready in backward: what DDP rebuilds its buckets
/// by after the first iteration, so what a steady step sees. Before that they are filled by reverse
/// registration order, which differs only inside a module.
std::vector<std::uint32_t> gradient_ready_order(const StepWork& work);

/// Appends parameters to a bucket until it reaches its limit; the one that crosses it closes it.
/// Limits are 1 MiB for the first bucket and 25 MiB after, or the plan's bucket_bytes for all.
std::vector<DdpBucket> ddp_buckets(const StepWork& work, const Plan& plan,
                                   const Training& training);

}  // namespace stepsim::workloads
