#pragma once

/// Which blocks of a model each pipeline stage holds.

#include "workloads/plan.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace stepsim::workloads {

struct StageContent {
  bool embedding = false;
  std::int64_t first_layer = 0;
  std::int64_t layers = 0;
  bool head = false;
};

/// Stages in the order in which a micro-batch passes through them. As Megatron-LM cuts them:
/// evenly, where embedding_as_layer and head_as_layer make the first and last stage a block shorter
/// (account_for_embedding_in_pipeline_split, account_for_loss_in_pipeline_split), or as
/// stage_layers says. There is no problem.
std::vector<StageContent> stage_contents(const Plan& plan, std::int64_t layers);

/// Why the blocks cannot be cut so, as Megatron-LM would refuse it; empty when they can.
std::string stage_layout_problem(const Plan& plan, std::int64_t layers);

}  // namespace stepsim::workloads
