#pragma once

/// The four clocks as rows with bars.

#include "report/style.hpp"

#include "workloads/regime.hpp"

#include "sim/job.hpp"

#include <string>

namespace stepsim::report {

Colour colour_of(sim::Clock clock);

/// «  compute        8.01 s   83.4 %  ████»
std::string share_row(const std::string& name, double part, double whole, Colour colour,
                      const Style& style);

/// The clocks of a regime against the slowest of them.
std::string clock_rows(const workloads::RegimeClocks& clocks, const Style& style);

}  // namespace stepsim::report
