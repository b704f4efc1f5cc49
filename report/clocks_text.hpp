#pragma once

/// What `stepsim clocks` prints.

#include "report/table.hpp"
#include "report/terminal_style.hpp"

#include "scenarios/regime_answer.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace stepsim::report {

/// Four bars for a layer and four for the model, each clock as if it ran alone.
std::string clocks_text(const scenarios::ClocksRequest& request,
                        const scenarios::ClocksAnswer& answer, const Style& style);
/// A row a clock, for «layer», «outside» and «model».
Table clocks_table(const scenarios::ClocksAnswer& answer);
nlohmann::ordered_json clocks_json(const scenarios::ClocksRequest& request,
                                   const scenarios::ClocksAnswer& answer);

}  // namespace stepsim::report
