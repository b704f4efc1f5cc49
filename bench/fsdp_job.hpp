#pragma once

/// A job shaped as FSDP2 shapes it, for measuring the engine: every layer couples all ranks. Costs
/// are round numbers of the right size, not predictions.

#include "sim/job.hpp"

namespace stepsim::bench {

struct FsdpShape {
  std::uint32_t ranks = 512;
  std::uint32_t layers = 80;
  std::uint32_t forward_kernels = 30;   // of one layer
  std::uint32_t backward_kernels = 90;  // of one layer, recomputation included
  /// Whether collectives slow kernels and share one link with each other.
  bool sharing = false;
};

/// About layers × (forward_kernels + backward_kernels + 30) ops a rank.
sim::Job fsdp_job(const FsdpShape& shape);

}  // namespace stepsim::bench
