#pragma once

/// Memory of every program of a step, and the single change that makes one that does not fit fit.

#include "scenarios/step_result.hpp"

#include "workloads/step.hpp"

#include "sim/base/data_directory.hpp"

namespace stepsim::scenarios {

/// Memory of `step`, stage by stage.
MemoryResult memory_of(const workloads::StepInput& input, const workloads::Step& step);

/// Memory of `step`; when a stage does not fit, the remedy is looked for.
MemoryResult memory_with_remedy(const DataDirectory& data, const Scenario& scenario,
                                const workloads::StepInput& input, const workloads::Step& step);

}  // namespace stepsim::scenarios
