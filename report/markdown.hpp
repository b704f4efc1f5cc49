#pragma once

/// Answers as Markdown documents: headings, tables and lists that render anywhere.

#include "report/table.hpp"

#include "scenarios/simulate.hpp"
#include "scenarios/step_result.hpp"

#include <string>

namespace stepsim::report {

/// What `stepsim run` prints, with the same content as its text.
std::string run_markdown(const scenarios::Scenario& scenario, const scenarios::StepResult& result);
/// What `stepsim memory` prints.
std::string memory_markdown(const scenarios::Scenario& scenario,
                            const scenarios::MemoryAnswer& answer);

}  // namespace stepsim::report
