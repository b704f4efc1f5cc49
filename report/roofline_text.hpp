#pragma once

/// What `stepsim roofline` prints.

#include "report/table.hpp"
#include "report/terminal_style.hpp"

#include "scenarios/regime_answer.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace stepsim::report {

/// Peaks and ridge of the device, then the clocks of every product.
std::string roofline_text(const scenarios::RooflineAnswer& answer, const Style& style);
/// A row a product; without products a row with the device's own numbers.
Table roofline_table(const scenarios::RooflineAnswer& answer);
nlohmann::ordered_json roofline_json(const scenarios::RooflineAnswer& answer);

}  // namespace stepsim::report
