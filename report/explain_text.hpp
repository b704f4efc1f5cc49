#pragma once

/// What `stepsim explain` prints: what bounds the step, and what would change it.

#include "report/table.hpp"
#include "report/terminal_style.hpp"

#include "scenarios/explain.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace stepsim::report {

/// What the answer rests on, the step and its clocks, then the step with one clock free and with
/// one resource a tenth faster, the most saved first, a sentence each.
std::string explain_text(const scenarios::Scenario& scenario,
                         const scenarios::Explanation& explanation, const Style& style);
/// A row each: for Markdown and CSV.
Table explain_table(const scenarios::Explanation& explanation);
/// Schema `stepsim.explanation/1`.
nlohmann::ordered_json explain_json(const scenarios::Scenario& scenario,
                                    const scenarios::Explanation& explanation);

}  // namespace stepsim::report
