#include "report/clock_bars.hpp"

#include "report/text_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace stepsim::report {

std::string bar(const Style& style, double share, std::size_t width) {
  if (!(share > 0)) return {};
  const double columns = std::min(share, 1.0) * static_cast<double>(width);
  if (!style.unicode) {
    const auto full = static_cast<std::size_t>(std::lround(columns));
    return std::string(std::max<std::size_t>(full, 1), '#');
  }
  static constexpr std::array<const char*, 8> partial = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(columns * 8)));
  std::string text;
  for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
  return text + partial[eighths % 8];
}

Colour colour_of(sim::Clock clock) {
  switch (clock) {
    case sim::Clock::compute:
      return Colour::green;
    case sim::Clock::memory:
      return Colour::blue;
    case sim::Clock::communication:
      return Colour::yellow;
    case sim::Clock::overhead:
      return Colour::red;
  }
  return Colour::none;
}

std::string share_row(const ShareRow& row, const Style& style) {
  const double share = row.whole > 0 ? row.part / row.whole : 0;
  std::string text = fmt::format("  {} {} {}", pad_right(row.name, 14),
                                 pad_left(human_time(row.part), 9), pad_left(percent(share), 8));
  const std::string blocks = bar(style, share, row.bar_width);
  if (!blocks.empty()) text += "  " + paint(style, row.colour, blocks);
  if (row.note.empty()) return text + '\n';
  const std::size_t gap = row.bar_width - display_width(blocks) + (blocks.empty() ? 4 : 2);
  return text + std::string(gap, ' ') + row.note + '\n';
}

std::string clock_bars(const workloads::RegimeClocks& clocks, const Style& style) {
  std::string text;
  for (int i = 0; i < sim::clock_count; ++i) {
    const auto clock = static_cast<sim::Clock>(i);
    text += share_row({to_string(clock), clocks[clock], clocks.bound_s(), colour_of(clock)}, style);
  }
  return text;
}

}  // namespace stepsim::report
