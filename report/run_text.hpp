#pragma once

/// What `stepsim run` and `stepsim memory` print for people: a screenful of plain text.

#include "report/style.hpp"

#include "scenarios/simulate.hpp"
#include "scenarios/step_result.hpp"

#include <string>

namespace stepsim::report {

/// One step: what the answer rests on, step time and rates, the four clocks, the time line, exposed
/// communication by group, memory with its verdict, assumptions. At most 100 columns.
std::string run_text(const scenarios::Scenario& scenario, const scenarios::StepResult& result,
                     const Style& style);

/// Memory alone: every part by name, what lies outside the allocator, verdict and remedy.
std::string memory_text(const scenarios::Scenario& scenario, const scenarios::MemoryAnswer& answer,
                        const Style& style);

}  // namespace stepsim::report
