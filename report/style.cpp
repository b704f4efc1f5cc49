#include "report/style.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace stepsim::report {

namespace {

const char* escape_code(Colour colour) {
  switch (colour) {
    case Colour::none:
      return "";
    case Colour::bold:
      return "\x1b[1m";
    case Colour::dim:
      return "\x1b[2m";
    case Colour::green:
      return "\x1b[32m";
    case Colour::blue:
      return "\x1b[34m";
    case Colour::yellow:
      return "\x1b[33m";
    case Colour::red:
      return "\x1b[31m";
    case Colour::magenta:
      return "\x1b[35m";
  }
  return "";
}

}  // namespace

std::string paint(const Style& style, Colour colour, std::string_view text) {
  if (!style.colour || colour == Colour::none || text.empty()) return std::string(text);
  return escape_code(colour) + std::string(text) + "\x1b[0m";
}

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

const char* dot(const Style& style) { return style.unicode ? " · " : ", "; }
const char* times(const Style& style) { return style.unicode ? "×" : "x"; }

}  // namespace stepsim::report
