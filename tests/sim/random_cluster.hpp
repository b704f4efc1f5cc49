#pragma once

/// Random training-like jobs: ranks in a grid of tensor × data × pipeline, with pipelines of
/// messages, rings, collectives along every dimension, slow ranks and communicators that cost more
/// than their like. Most of their ranks are alike.

#include "sim/job.hpp"

#include <cstdint>

namespace stepsim::sim::testing {

Job random_cluster_job(std::uint64_t seed);

/// The same with resources shared: kernels slow beside collectives, and one to four neighbouring
/// ranks share a network link, not always along the bounds of the grid; some links are slow.
Job random_sharing_cluster_job(std::uint64_t seed);

}  // namespace stepsim::sim::testing
