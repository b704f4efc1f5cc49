#pragma once

/// What to change in a scenario that does not fit: every offer is a list of overrides that has been
/// loaded and accounted as the command line would, so what it promises is what following it gives.

#include "scenarios/scenario.hpp"
#include "scenarios/step_result.hpp"

#include "sim/base/data_directory.hpp"

namespace stepsim::scenarios {

/// Sets `memory.remedy` to the cheapest single change with which the scenario fits with room to
/// spare, else to such a pair of changes, else to a change or pair that is tight. When none makes
/// it fit, sets `memory.nearest` to the one that comes nearest, if it comes nearer than no change.
void find_remedy(const DataDirectory& data, const Scenario& scenario, MemoryResult& memory);

}  // namespace stepsim::scenarios
