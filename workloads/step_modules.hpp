#pragma once

/// The modules of a model as a step sees them: kernels costed and priced in host time, tensors with
/// their life times, parameters numbered, each block with what it recomputes.

#include "workloads/layer_kernels.hpp"
#include "workloads/model.hpp"
#include "workloads/plan.hpp"
#include "workloads/stage_layout.hpp"
#include "workloads/step_costs.hpp"
#include "workloads/step_work.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace stepsim::workloads {

struct StepModel {
  const Model& model;
  const Training& training;
  const Software& software;
  /// Parameters one rank updates.
  std::int64_t optimizer_elements = 0;
  std::int64_t optimizer_tensors = 1;
  /// What a rank holds of the model, chunk by chunk. Empty: all of it.
  std::vector<StageContent> chunks{};
  /// Megatron-LM: how layers are cut (`model` is then the part of one rank), and what launching a
  /// collective of the tensor group costs the host.
  struct Megatron {
    TensorParallel tensor;
    bool delays_weight_gradients = false;
    Time collective_host_time;
  };
  std::optional<Megatron> megatron{};
};

StepWork make_step_work(const StepModel& input, StepCosts& costs);

/// What block `layer` recomputes under the training's activation checkpointing.
Recompute recompute_of(const Training& training, std::int64_t layer);

}  // namespace stepsim::workloads
