#pragma once

/// Text of the user's, made fit for an error message.

#include <string>
#include <string_view>

namespace stepsim {

/// The text on one line: characters that act on a terminal escaped (\n, \xNN), and cut after 60.
std::string shown(std::string_view text);
/// The same in double quotes.
std::string in_quotes(std::string_view text);

/// The words as «a, b or c».
template <class Words>
std::string one_of(const Words& words) {
  std::string text;
  std::size_t left = words.size();
  for (const auto& word : words) {
    text += word;
    --left;
    if (left > 0) text += left == 1 ? " or " : ", ";
  }
  return text;
}

}  // namespace stepsim
