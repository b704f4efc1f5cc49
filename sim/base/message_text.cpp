#include "sim/base/message_text.hpp"

#include <cstddef>

namespace stepsim {

namespace {

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

std::size_t length_of_character(std::string_view text) {
  std::size_t length = 1;
  while (length < text.size() && continues_character(text[length])) ++length;
  return length;
}

// Control characters of both ranges, and those that turn the direction of text or break lines.
bool acts_on_terminal(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0) < 0x20 || byte(0) >= 0x7F;
  if (character.size() == 2) return byte(0) == 0xC2 && byte(1) < 0xA0;
  if (character.size() != 3 || byte(0) != 0xE2) return false;
  const bool marks = byte(1) == 0x80 &&
                     ((byte(2) >= 0x8E && byte(2) <= 0x8F) || (byte(2) >= 0xA8 && byte(2) <= 0xAE));
  const bool isolates = byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9;
  return marks || isolates;
}

void append_escaped(std::string& out, std::string_view character) {
  constexpr std::string_view digits = "0123456789abcdef";
  if (character == "\n") {
    out += "\\n";
  } else if (character == "\t") {
    out += "\\t";
  } else {
    for (const char byte : character) {
      const auto value = static_cast<unsigned char>(byte);
      out += "\\x";
      out += digits[value / 16];
      out += digits[value % 16];
    }
  }
}

}  // namespace

std::string shown(std::string_view text) {
  constexpr std::size_t longest_shown = 60;
  std::string out;
  for (std::size_t characters = 0; !text.empty(); ++characters) {
    if (characters == longest_shown) return out + "…";
    const std::string_view character = text.substr(0, length_of_character(text));
    if (acts_on_terminal(character)) {
      append_escaped(out, character);
    } else {
      out += character;
    }
    text.remove_prefix(character.size());
  }
  return out;
}

std::string in_quotes(std::string_view text) { return '"' + shown(text) + '"'; }

}  // namespace stepsim
