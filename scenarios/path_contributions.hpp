#pragma once

/// What the critical path consists of: its steps, gathered by what they do.

#include "sim/attribution.hpp"
#include "sim/job.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace stepsim::scenarios {

/// All steps of one kind. Those of a clock sum to that clock, all to the step time.
struct PathContribution {
  /// «gemm up dgrad», «attention backward», «all_gather shard», «all_gather shard latency»,
  /// «interference with shard», «kernel launches», «kernel start-up».
  std::string what;
  sim::Clock clock = sim::Clock::compute;
  Time time;
  std::int64_t count = 0;  // steps of the path that have a part in it
};

/// The longest first; equal ones by clock and name.
std::vector<PathContribution> path_contributions(const sim::Job& job,
                                                 const sim::CriticalPath& path);

/// What slowed a step with `sharing`: «interference with GROUP» or «shares LINK».
std::string cause_of_sharing(const sim::Job& job, const sim::PathStep& step);

}  // namespace stepsim::scenarios
