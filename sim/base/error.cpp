#include "sim/base/error.hpp"

#include <algorithm>
#include <cstddef>

namespace stepsim {

namespace {

std::string join(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!text.empty()) text += '\n';
    text += diagnostic.to_string();
  }
  return text;
}

// Edit distance in which swapping two neighbouring letters costs one (optimal string alignment).
std::size_t edit_distance(const std::string& a, const std::string& b) {
  const std::size_t columns = b.size() + 1;
  std::vector<std::size_t> before_last(columns);
  std::vector<std::size_t> last(columns);
  std::vector<std::size_t> current(columns);
  for (std::size_t j = 0; j < columns; ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j < columns; ++j) {
      const std::size_t substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, substitution});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(current);
  }
  return last[b.size()];
}

std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// «dgx-h100» as dgx, h100; «sequence_length» as sequence, length.
std::vector<std::string> split_parts(const std::string& lower) {
  std::vector<std::string> parts(1);
  for (const char c : lower) {
    const bool joins = c == '-' || c == '_' || c == ' ' || c == '/' || c == '.';
    if (!joins) {
      parts.back() += c;
    } else if (!parts.back().empty()) {
      parts.emplace_back();
    }
  }
  if (parts.back().empty()) parts.pop_back();
  return parts;
}

// How surely `written` is short for `part`: 2 when it is the part, 1 when it begins it.
int likeness(const std::string& written, const std::string& part) {
  constexpr std::size_t shortest_beginning = 3;
  if (written == part) return 2;
  return written.size() >= shortest_beginning && part.starts_with(written) ? 1 : 0;
}

// Of each part written, in order, the likeness to a part of the candidate; 0 when one has none.
int likeness(const std::vector<std::string>& written, const std::vector<std::string>& parts) {
  int sum = 0;
  std::size_t next = 0;
  for (const std::string& part : written) {
    while (next < parts.size() && likeness(part, parts[next]) == 0) ++next;
    if (next == parts.size()) return 0;
    sum += likeness(part, parts[next++]);
  }
  return sum;
}

// «h100» is short for dgx-h100, «seq_len» for sequence_length, «llama3» for llama3-8b: the
// candidate that says least beside what was written, the first of equals. One letter is short for
// nothing.
std::string nearest_by_parts(const std::vector<std::string>& written,
                             const std::vector<std::string>& candidates) {
  std::string best;
  int best_likeness = 0;
  std::size_t best_count = 0;
  constexpr std::size_t shortest_word = 3;
  if (written.empty() || written.front().size() < shortest_word) return best;
  for (const std::string& candidate : candidates) {
    const std::vector<std::string> parts = split_parts(lower_case(candidate));
    const int here = likeness(written, parts);
    const bool better =
        here > best_likeness || (here == best_likeness && parts.size() < best_count);
    if (here == 0 || !better) continue;
    best = candidate;
    best_likeness = here;
    best_count = parts.size();
  }
  return best;
}

}  // namespace

std::string SourceLocation::to_string() const {
  std::string text = file;
  if (line > 0) text += ':' + std::to_string(line);
  if (line > 0 && column > 0) text += ':' + std::to_string(column);
  return text;
}

std::string Diagnostic::to_string() const {
  std::string text = where.to_string();
  if (!text.empty()) text += ": ";
  if (!path.empty()) text += path + ": ";
  text += problem;
  if (!expected.empty()) text += " (expected " + expected + ")";
  if (!suggestion.empty()) text += " (did you mean \"" + suggestion + "\"?)";
  return text;
}

InputError::InputError(Diagnostic diagnostic)
    : InputError(std::vector<Diagnostic>{std::move(diagnostic)}) {}

InputError::InputError(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(join(diagnostics)), diagnostics_(std::move(diagnostics)) {}

std::string nearest_choice(const std::string& word, const std::vector<std::string>& candidates) {
  // Longer words than any key of ours are no misspelling, and would make the distance slow.
  constexpr std::size_t longest_word = 64;
  if (word.empty() || word.size() > longest_word) return {};
  const std::string lower = lower_case(word);
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > longest_word) continue;
    // Another case alone is nearer than any other letter.
    const std::size_t distance = edit_distance(lower, lower_case(candidate));
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  constexpr std::size_t surely_misspelt = 1;
  if (!best.empty() && best_distance <= surely_misspelt) return best;
  const std::string by_parts = nearest_by_parts(split_parts(lower), candidates);
  return by_parts.empty() ? best : by_parts;
}

}  // namespace stepsim
