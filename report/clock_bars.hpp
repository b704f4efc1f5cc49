#pragma once

/// The four clocks as bars, and bars for whatever else is a share.

#include "report/terminal_style.hpp"

#include "workloads/regime.hpp"

#include "sim/job.hpp"

#include <string>

namespace stepsim::report {

/// A bar of `share` (clamped to 0…1) of `width` columns: Unicode blocks in eighths of a column, or
/// «#». Something that is not zero shows at least the smallest mark.
std::string bar(const Style& style, double share, std::size_t width);

Colour colour_of(sim::Clock clock);

/// «  compute        8.01 s   83.4 %  ████»
std::string share_row(const std::string& name, double part, double whole, Colour colour,
                      const Style& style);

/// The clocks of a regime against the slowest of them.
std::string clock_bars(const workloads::RegimeClocks& clocks, const Style& style);

}  // namespace stepsim::report
