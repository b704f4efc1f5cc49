#include "sim/base/message_text.hpp"

#include <cstddef>

namespace stepsim {

namespace {

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

void append_escaped(std::string& out, char byte) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto value = static_cast<unsigned char>(byte);
  if (byte == '\n') {
    out += "\\n";
  } else if (byte == '\t') {
    out += "\\t";
  } else if (value < 0x20 || value == 0x7F) {
    out += "\\x";
    out += digits[value / 16];
    out += digits[value % 16];
  } else {
    out += byte;
  }
}

}  // namespace

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest_shown = 60;
  std::string out = "\"";
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!continues_character(text[i]) && ++characters > longest_shown) return out + "…\"";
    append_escaped(out, text[i]);
  }
  return out + '"';
}

}  // namespace stepsim
