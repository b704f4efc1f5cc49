#pragma once

/// Small models under Megatron-LM's plans, with costs that make steps easy to compute by hand.

#include "workloads/megatron_job.hpp"
#include "workloads/step_costs.hpp"

#include "topology/cluster.hpp"

#include "sim/executor.hpp"
#include "sim/job.hpp"

#include <string>

namespace stepsim::workloads::testing {

/// Attention forward takes `forward`, backward twice that; everything else and every message takes
/// nothing.
struct AttentionCosts final : CostSource {
  Time forward = Time::milliseconds(1000);
  Time collective_time;
  sim::KernelCost kernel(const Kernel& kernel) const override;
  sim::CollectiveCost collective(topology::Collective collective, Bytes bytes,
                                 const topology::GroupShape& shape) const override;
};

struct MegatronCase {
  Model model;
  Plan plan;
  Training training;
  Software software;
  std::int64_t micro_batches = 1;

  /// A Llama-like model of eight layers under a plan of one rank.
  MegatronCase();
  int ranks() const { return plan.replicate * plan.tp * plan.pp; }
  sim::Job job(const CostSource& source) const;
};

/// Ops of a rank's program whose collective is `name` of `group`, in scopes that contain `scope`.
struct GroupVolume {
  int count = 0;
  Bytes bytes;
};
GroupVolume group_volume(const sim::Job& job, std::size_t program, const std::string& group,
                         const std::string& name, const std::string& scope);

}  // namespace stepsim::workloads::testing
