#include "tests/docs/output_match.hpp"

#include <cstddef>

namespace stepsim::docs {
namespace {

const std::string elision = "…";

using Lines = std::vector<std::string>;

/// Whether shown[i…] matches printed[j…]. Documents are short, so trying every length of an elision
/// is cheap enough.
bool matches_from(const Lines& shown, std::size_t i, const Lines& printed, std::size_t j) {
  if (i == shown.size()) return j == printed.size();
  if (shown[i] == elision) {
    for (std::size_t next = j; next <= printed.size(); ++next) {
      if (matches_from(shown, i + 1, printed, next)) return true;
    }
    return false;
  }
  return j < printed.size() && line_matches(shown[i], printed[j]) &&
         matches_from(shown, i + 1, printed, j + 1);
}

}  // namespace

bool line_matches(const std::string& shown, const std::string& printed) {
  std::size_t gap = shown.find(elision);
  if (gap == std::string::npos) return shown == printed;
  if (printed.compare(0, gap, shown, 0, gap) != 0) return false;
  std::size_t at = gap;
  for (;;) {
    const std::size_t start = gap + elision.size();
    gap = shown.find(elision, start);
    const std::string piece = shown.substr(start, gap == std::string::npos ? gap : gap - start);
    if (gap == std::string::npos) {
      return printed.size() >= at + piece.size() &&
             printed.compare(printed.size() - piece.size(), piece.size(), piece) == 0;
    }
    at = printed.find(piece, at);
    if (at == std::string::npos) return false;
    at += piece.size();
  }
}

bool output_matches(const Lines& shown, const Lines& printed) {
  return matches_from(shown, 0, printed, 0);
}

Lines updated_output(const Lines& shown, const Lines& printed) {
  Lines result;
  for (const std::string& line : printed) {
    const std::string* kept = &line;
    for (const std::string& candidate : shown) {
      if (candidate != elision && candidate.find(elision) != std::string::npos &&
          line_matches(candidate, line)) {
        kept = &candidate;
      }
    }
    result.push_back(*kept);
  }
  return result;
}

}  // namespace stepsim::docs
