#include "workloads/kernel_grid.hpp"

#include "sim/base/error.hpp"

#include <charconv>
#include <cstddef>
#include <string_view>

namespace stepsim::workloads {

namespace {

constexpr std::size_t largest_axis = 200;

/// Lines of a file and the numbers on them.
class Lines {
 public:
  Lines(std::string_view text, const std::string& file) : rest_(text), file_(file) {}

  bool next() {
    if (rest_.empty()) return false;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++number_;
    return true;
  }

  bool at_end() const { return line_.empty(); }

  bool skip(std::string_view prefix) {
    if (line_.substr(0, prefix.size()) != prefix) return false;
    line_.remove_prefix(prefix.size());
    return true;
  }

  std::int64_t number(std::int64_t least, std::int64_t most) {
    std::int64_t value = 0;
    const auto result = std::from_chars(line_.data(), line_.data() + line_.size(), value);
    if (result.ec != std::errc{} || value < least || value > most)
      refuse("\"" + std::string(line_.substr(0, 20)) + "\" is no number of the grid",
             "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    line_.remove_prefix(static_cast<std::size_t>(result.ptr - line_.data()));
    if (!line_.empty() && !skip(","))
      refuse("is no list of numbers", "numbers with commas between");
    return value;
  }

  [[noreturn]] void refuse(const std::string& problem, const std::string& expected) const {
    throw InputError(Diagnostic{{file_, number_}, "", problem, expected, ""});
  }

 private:
  std::string_view rest_;
  std::string_view line_;
  const std::string& file_;
  int number_ = 0;
};

constexpr std::int64_t largest_size = 1'000'000'000;

/// Appends the next size of an axis.
void extend(std::vector<std::int64_t>& axis, std::int64_t size, const Lines& lines) {
  if (!axis.empty() && size <= axis.back()) lines.refuse("sizes do not rise", "rising sizes");
  if (axis.size() == largest_axis) lines.refuse("an axis is too long", "at most 200 sizes");
  axis.push_back(size);
}

}  // namespace

GemmCorrection parse_grid(const std::string& text, const std::string& file) {
  Lines lines(text, file);
  GemmCorrection grid;
  if (!lines.next() || !lines.skip("m,n,")) lines.refuse("is no grid of residuals", "m,n,… first");
  while (!lines.at_end()) extend(grid.k, lines.number(1, largest_size), lines);
  std::size_t row = 0;
  while (lines.next()) {
    const std::int64_t m = lines.number(1, largest_size);
    const std::int64_t n = lines.number(1, largest_size);
    if (grid.m.empty() || m != grid.m.back()) {
      if (!grid.m.empty() && row % grid.n.size() != 0)
        lines.refuse("rows are missing before this one", "every n for each m");
      extend(grid.m, m, lines);
    }
    if (grid.m.size() == 1) extend(grid.n, n, lines);
    if (n != grid.n[row % grid.n.size()])
      lines.refuse("rows are out of order", "n as for the first m");
    for (std::size_t i = 0; i < grid.k.size(); ++i)
      grid.percent.push_back(static_cast<std::int16_t>(lines.number(-99, 1000)));
    if (!lines.at_end()) lines.refuse("has too many numbers", "one for each k");
    ++row;
  }
  if (grid.m.size() < 2 || grid.n.size() < 2 || grid.k.size() < 2 ||
      row != grid.m.size() * grid.n.size())
    lines.refuse("the grid is not complete",
                 "at least two sizes an axis and a row for each m and n");
  return grid;
}

std::string grid_text(const GemmCorrection& correction) {
  std::string text = "m,n";
  for (const std::int64_t k : correction.k) text += ',' + std::to_string(k);
  text += '\n';
  std::size_t next = 0;
  for (const std::int64_t m : correction.m) {
    for (const std::int64_t n : correction.n) {
      text += std::to_string(m) + ',' + std::to_string(n);
      for (std::size_t k = 0; k < correction.k.size(); ++k)
        text += ',' + std::to_string(correction.percent[next++]);
      text += '\n';
    }
  }
  return text;
}

}  // namespace stepsim::workloads
