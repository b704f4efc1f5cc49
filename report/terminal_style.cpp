#include "report/terminal_style.hpp"

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

const char* dot(const Style& style) { return style.unicode ? " · " : ", "; }
const char* times(const Style& style) { return style.unicode ? "×" : "x"; }

}  // namespace stepsim::report
