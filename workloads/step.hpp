#pragma once

/// From model, plan and cluster to a job the engine can execute: kernels are costed, programs
/// emitted op by op as the framework issues them, communicators built and their collectives costed.

#include "workloads/kernel_cost.hpp"
#include "workloads/model.hpp"
#include "workloads/plan.hpp"

#include "topology/cluster.hpp"
#include "topology/collective.hpp"

#include "sim/job.hpp"

#include <string>
#include <vector>

namespace stepsim::workloads {

struct StepInput {
  const Model& model;
  const Plan& plan;
  const Training& training;
  const Software& software;
  const topology::Cluster& cluster;
  const KernelCostModel& kernels;
  const topology::CollectiveModel& collectives;
  ClockSpeeds speeds{};  // of the devices, in a what-if
};

/// Number of ranks the plan takes; equals the cluster's GPUs in a valid scenario.
int rank_count(const Plan& plan);
/// Ranks, or groups of ranks, that each take micro-batches of their own.
int replica_count(const Plan& plan);
std::int64_t micro_batches(const Plan& plan, const Training& training);

/// Matrix multiplications that a rank runs, recomputation included, counted as model FLOPs are: the
/// backward of attention as twice its forward, so that without recomputation they equal the
/// model's.
struct HardwareFlops {
  double products = 0;
  double full_attention = 0;    // as if nothing were masked but by windows
  double causal_attention = 0;  // what the mask leaves
};
double hardware_flops(const HardwareFlops& flops, FlopsConvention convention);

struct Step {
  sim::Job job;
  HardwareFlops hardware_flops;
  std::vector<std::string> assumptions;  // what the step rests on that nobody measured or stated
};

/// Emits the step. Throws InputError for a plan that cannot be (the loader has already refused
/// those a scenario file can express).
Step build_step(const StepInput& input);

/// How many micro-batches take the memory of all of them: without a pipeline the first makes the
/// gradients, the last may synchronise them, and those between repeat each other to the byte; in a
/// pipeline as many as bring the schedule to repeat itself.
std::int64_t distinct_micro_batches(const Plan& plan, const Training& training);

/// Programs for report_memory: every cost zero, and only distinct_micro_batches.
Step build_memory_step(const StepInput& input);

}  // namespace stepsim::workloads
