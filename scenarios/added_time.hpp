#pragma once

/// What single causes added to the ops of the critical path, gathered from its steps.

#include "sim/attribution.hpp"
#include "sim/job.hpp"

#include <string>
#include <vector>

namespace stepsim::scenarios {

struct AddedTime {
  /// «interference with shard»: what kernels lost beside that group's collectives (of several at
  /// once, the first one issued); «shares LINK»: what transfers lost there; «slow rank 17»: what a
  /// rank slower than its costs added.
  std::string cause;
  sim::Clock clock = sim::Clock::communication;
  Time time;  // a part of that clock
};

/// The longest first.
std::vector<AddedTime> added_times(const sim::Job& job, const sim::CriticalPath& path);

}  // namespace stepsim::scenarios
