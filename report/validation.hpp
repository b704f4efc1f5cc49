#pragma once

/// Predicted against measured, over suites of runs: text, table of cases, and JSON with schema
/// «stepsim.validation/1».

#include "report/table.hpp"
#include "report/terminal_style.hpp"

#include "scenarios/suite.hpp"
#include "scenarios/validate.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace stepsim::report {

/// What was asked for, with its result.
struct Validation {
  std::vector<scenarios::Suite> suites;
  std::vector<std::string> overrides;  // as --set took them
  std::vector<std::string> without;    // mechanisms left out
  std::vector<scenarios::CaseResult> results;
};

enum class ShownCases { worst, all };

std::string validation_text(const Validation& validation, ShownCases cases, const Style& style);

/// One row a case, in the order of the suites.
Table validation_table(const Validation& validation);

nlohmann::ordered_json validation_json(const Validation& validation);

}  // namespace stepsim::report
