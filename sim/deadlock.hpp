#pragma once

/// Says in plain words why a job that got stuck can never go on.

#include "sim/run_ahead_executor.hpp"

#include <string>

namespace stepsim::sim {

/// The cycle of waits in a run of every rank that has returned false: one line for each op, naming
/// rank, program, op, scope and what it waits for.
std::string explain_deadlock(const RunAhead& run);

}  // namespace stepsim::sim
