#pragma once

/// What `stepsim memory` prints for people.

#include "report/terminal_style.hpp"

#include "scenarios/simulate.hpp"
#include "scenarios/step_result.hpp"

#include <string>

namespace stepsim::report {

/// Memory alone: every part by name, what lies outside the allocator, verdict and remedy.
std::string memory_text(const scenarios::Scenario& scenario, const scenarios::MemoryAnswer& answer,
                        const Style& style);

}  // namespace stepsim::report
