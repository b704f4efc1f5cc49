#pragma once

/// What a fit of the step coefficients came to: values beside their priors, and errors on what was
/// left out of the fit.

#include "report/table.hpp"
#include "report/terminal_style.hpp"

#include "scenarios/refit.hpp"

#include <string>
#include <vector>

namespace stepsim::report {

std::string refit_text(const std::vector<scenarios::RefitGroup>& groups, bool as_shipped,
                       const Style& style);

/// One row a coefficient.
Table refit_table(const std::vector<scenarios::RefitGroup>& groups);

}  // namespace stepsim::report
