#pragma once

/// The modules of a model as a step sees them: kernels costed and priced in host time, tensors with
/// their life times, parameters numbered, each block with what it recomputes.

#include "workloads/model.hpp"
#include "workloads/plan.hpp"
#include "workloads/step_costs.hpp"
#include "workloads/step_work.hpp"

#include <cstdint>

namespace stepsim::workloads {

struct StepModel {
  const Model& model;
  const Training& training;
  const Software& software;
  /// Parameters one rank updates.
  std::int64_t optimizer_elements = 0;
  std::int64_t optimizer_tensors = 1;
};

StepWork make_step_work(const StepModel& input, StepCosts& costs);

/// What block `layer` recomputes under the training's activation checkpointing.
Recompute recompute_of(const Training& training, std::int64_t layer);

}  // namespace stepsim::workloads
