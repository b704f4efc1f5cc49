#pragma once

/// From a plan to Megatron-LM's job: what each pipeline rank holds, its program, and which ranks
/// form which group.

#include "workloads/megatron.hpp"
#include "workloads/model.hpp"
#include "workloads/plan.hpp"
#include "workloads/step_costs.hpp"

#include "topology/cluster.hpp"

#include "sim/job.hpp"

#include <vector>

namespace stepsim::workloads {

struct MegatronModel {
  const Model& model;
  const Plan& plan;
  const Training& training;
  const Software& software;
  std::int64_t micro_batches = 1;
  sim::MemoryOps memory_ops = sim::MemoryOps::kept;
  MegatronHostCosts host{};
};

/// The programs, pipeline rank by pipeline rank.
std::vector<StageProgram> megatron_programs(const MegatronModel& input, StepCosts& costs);

/// Puts the job together. Ranks are numbered by workloads/rank_grid.hpp.
sim::Job assemble_megatron_job(std::vector<StageProgram> stages, const Plan& plan,
                               const topology::Cluster& cluster, StepCosts& costs);

/// Bytes handed from a stage to the next for one micro-batch.
Bytes boundary_bytes(const Model& model, const Plan& plan, const Training& training);

}  // namespace stepsim::workloads
