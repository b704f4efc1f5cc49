#pragma once

/// What a scenario declares to be slower than its type.

#include "scenarios/scenario.hpp"

#include "sim/job.hpp"

#include <string>
#include <vector>

namespace stepsim::scenarios {

/// Makes the kernels of the declared ranks and nodes take as much longer as the scenario says. Slow
/// ports are part of the cluster, which collectives are costed on.
void apply_slow_parts(const Scenario& scenario, sim::Job& job);

/// What made the kernels of a rank slow: «slow rank 17», «slow node 3», or «noise» when neither is
/// declared.
std::string slow_part_of_rank(const Scenario& scenario, sim::Rank rank);

/// What made the transfers of a group slow: the node with the slowest ports of those that hold
/// members, the lowest of several: «slow node 3».
std::string slow_part_of_group(const Scenario& scenario, const std::vector<sim::Rank>& members);

}  // namespace stepsim::scenarios
