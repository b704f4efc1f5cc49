#pragma once

/// What a scenario declares to be slower than its type.

#include "scenarios/scenario.hpp"

#include "sim/job.hpp"

namespace stepsim::scenarios {

/// Makes the kernels of the declared ranks take as much longer as the scenario says.
void apply_slow_parts(const Scenario& scenario, sim::Job& job);

}  // namespace stepsim::scenarios
