#pragma once

/// A job shaped as Megatron trains a large dense model: tensor × pipeline × data parallel, 1F1B,
/// buckets of a distributed optimizer; for measuring the engine. Costs are round numbers of the
/// right size, not predictions. By default the shape of Llama 3 405B on 16,384 GPUs: about 100
/// million ops.

#include "sim/job.hpp"

namespace stepsim::bench {

struct PipelineShape {
  std::uint32_t tensor = 8;
  std::uint32_t stages = 16;
  std::uint32_t data = 128;
  std::uint32_t micro_batches = 16;
  std::uint32_t layers = 8;  // of a stage
  std::uint32_t slow_ranks = 0;
  /// Whether every kernel of every rank takes a time of its own, up to 5 % off its cost.
  bool all_different = false;
  /// Whether collectives slow kernels, and data-parallel and pipeline transfers share each GPU's
  /// NIC.
  bool sharing = false;
};

sim::Job pipeline_job(const PipelineShape& shape);

}  // namespace stepsim::bench
