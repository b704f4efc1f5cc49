#pragma once

#include "sim/executor.hpp"

#include "tests/sim/oracle_executor.hpp"

namespace stepsim::sim::testing {

/// Whether replayed times equal the oracle's, op by op and rank by rank.
bool same_times(const Job& job, const Execution& execution, const OracleResult& oracle);

}  // namespace stepsim::sim::testing
