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

/// «  compute        8.01 s   83.4 %  ████», with a bar of at most `bar_width` columns. `note`
/// stands beside the bar, at the same column in every row.
struct ShareRow {
  std::string name;
  double part = 0;  // seconds
  double whole = 0;
  Colour colour = Colour::none;
  std::size_t bar_width = 50;
  std::string note{};
};
std::string share_row(const ShareRow& row, const Style& style);
/// Columns of a row before its bar.
constexpr std::size_t share_row_bar_column = 37;

/// The clocks of a regime against the slowest of them.
std::string clock_bars(const workloads::RegimeClocks& clocks, const Style& style);

}  // namespace stepsim::report
