#pragma once

/// What `stepsim clocks` and `stepsim roofline` print.

#include "report/style.hpp"
#include "report/table.hpp"

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

/// Peaks and ridge of the device, then the clocks of every product.
std::string roofline_text(const scenarios::RooflineAnswer& answer, const Style& style);
/// A row a product; without products a row with the device's own numbers.
Table roofline_table(const scenarios::RooflineAnswer& answer);
nlohmann::ordered_json roofline_json(const scenarios::RooflineAnswer& answer);

}  // namespace stepsim::report
