#pragma once

/// Megatron-LM core 0.20 as programs, one for each pipeline rank: tensor and sequence parallelism
/// inside layers, a pipeline schedule over micro-batches, DDP or the distributed optimizer over
/// replicas. docs/megatron.md walks through it.
///
/// Streams: default (compute), tensor and data (the process groups' own), send and receive streams
/// for each kind of pipeline message.

#include "workloads/pipeline_schedule.hpp"
#include "workloads/plan.hpp"
#include "workloads/step_costs.hpp"
#include "workloads/step_work.hpp"

#include "sim/program.hpp"
#include "sim/program_builder.hpp"

#include "sim/base/sourced_number.hpp"
#include "sim/base/units.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace stepsim::workloads {

/// Host time of what Megatron-LM does besides launching kernels.
struct MegatronHostCosts {
  Time collective = Time::microseconds(20);
  Time message = Time::microseconds(20);
  Time gradient_hook = Time::microseconds(5);
  Time pass = Time::microseconds(50);       // forward_step or backward_step around a chunk
  Time finalize = Time::microseconds(200);  // finalize_model_grads and the optimizer's bookkeeping
  Source source{
      SourceKind::assumed,
      "no measurement of Megatron-LM's host time; a collective's launch is 15 to 30 us in "
      "public profiles"};
};

/// One pipeline rank. `work` has its chunks in the order of the schedule's chunk numbers.
struct MegatronStage {
  const StepWork& work;
  const Plan& plan;
  const Training& training;
  PipelineShape shape;
  int rank = 0;                 // along the pipeline
  Bytes boundary;               // activations handed from stage to stage, and their gradients
  bool ties_embedding = false;  // the word embedding is held by another pipeline rank too
  sim::MemoryOps memory_ops = sim::MemoryOps::kept;
  MegatronHostCosts host{};
};

/// What a slot of a stage's program stands for.
struct StageSlot {
  std::string group;  // «tensor», «data», «embedding», «gradient_norm», «pipeline»
  // Of a channel:
  bool sends = false;
  bool is_gradient = false;
  int peer = 0;  // along the pipeline
};

struct StageProgram {
  sim::Program program;
  std::vector<StageSlot> slots;  // one for each of the program's
};

StageProgram emit_megatron(const MegatronStage& stage, StepCosts& costs);

/// Ranks that hold the same parameters and so reduce their gradients together: the replicas, and
/// for dualpipe both pipeline ranks that hold a stage.
int gradient_group_size(const Plan& plan);

}  // namespace stepsim::workloads
