#pragma once

/// How text is drawn: with or without Unicode and colour.

#include <string>
#include <string_view>

namespace stepsim::report {

struct Style {
  bool unicode = false;
  bool colour = false;
};

enum class Colour { none, bold, dim, green, blue, yellow, red, magenta };

/// `text` in `colour`, or as it is when the style has no colours.
std::string paint(const Style& style, Colour colour, std::string_view text);

/// Characters that have an ASCII stand-in.
const char* dot(const Style& style);    // « · »
const char* times(const Style& style);  // «×»

}  // namespace stepsim::report
