#pragma once

/// Puts a job together: which ranks form which communicator, and what each collective costs on it.

#include "workloads/plan.hpp"
#include "workloads/step_costs.hpp"

#include "topology/cluster.hpp"

#include "sim/job.hpp"

namespace stepsim::workloads {

/// All ranks run `program`. Rank = replica × shard degree + place in its sharding group, so a
/// sharding group holds neighbouring ranks and replicas stand `shard` apart, as in PyTorch's
/// two-dimensional device mesh.
sim::Job assemble_job(sim::Program program, const Plan& plan, const topology::Cluster& cluster,
                      StepCosts& costs);

}  // namespace stepsim::workloads
