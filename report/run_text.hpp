#pragma once

/// What `stepsim run` prints for people: a screenful of plain text.

#include "report/terminal_style.hpp"

#include "scenarios/simulate.hpp"
#include "scenarios/step_result.hpp"

#include <string>

namespace stepsim::report {

/// One step: what the answer rests on, step time and rates, the four clocks, the time line, exposed
/// communication by group, memory with its verdict, assumptions. At most 100 columns.
std::string run_text(const scenarios::Scenario& scenario, const scenarios::StepResult& result,
                     const Style& style);

}  // namespace stepsim::report
