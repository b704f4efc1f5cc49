#pragma once

/// What single causes added to the ops of the critical path, gathered from its steps.

#include "scenarios/scenario.hpp"

#include "sim/attribution.hpp"
#include "sim/job.hpp"

#include <string>
#include <vector>

namespace stepsim::scenarios {

struct AddedTime {
  /// «interference with shard»: what kernels lost beside that group's collectives (of several at
  /// once, the first one issued); «shares LINK»: what transfers lost there; «slow rank 17», «slow
  /// node 3»: what a rank or node that is declared slow added; «noise»: what kernels on the path
  /// took longer for being uneven, less what they took shorter (left out when it is less).
  std::string cause;
  sim::Clock clock = sim::Clock::communication;
  Time time;  // a part of that clock
};

/// The longest first.
std::vector<AddedTime> added_times(const Scenario& scenario, const sim::Job& job,
                                   const sim::CriticalPath& path);

}  // namespace stepsim::scenarios
