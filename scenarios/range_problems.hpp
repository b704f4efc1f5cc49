#pragma once

/// Quantities of a scenario that leave what the simulator can count, said at the scenario's place.

#include "scenarios/scenario.hpp"

#include "sim/base/error.hpp"

namespace stepsim::scenarios {

/// The problem at the `training` block of the scenario's file, which asks for so much.
InputError beyond_range(const Scenario& scenario, const RangeError& error);

/// What `answer()` returns; a RangeError becomes an InputError with file, line and column.
template <class Answer>
auto within_range(const Scenario& scenario, Answer answer) {
  try {
    return answer();
  } catch (const RangeError& error) {
    throw beyond_range(scenario, error);
  }
}

}  // namespace stepsim::scenarios
