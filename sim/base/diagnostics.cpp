#include "sim/base/diagnostics.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace stepsim {

void Diagnostics::add(Diagnostic diagnostic) {
  constexpr std::size_t most_kept = 100;
  if (diagnostics_.size() < most_kept) {
    diagnostics_.push_back(std::move(diagnostic));
  } else {
    ++left_out_;
  }
}

void Diagnostics::throw_if_any() const {
  if (diagnostics_.empty()) return;
  std::vector<Diagnostic> sorted = diagnostics_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.where.file, a.where.line, a.where.column) <
           std::tie(b.where.file, b.where.line, b.where.column);
  });
  if (left_out_ > 0) {
    const std::string more = "and " + std::to_string(left_out_) + " more problems";
    sorted.push_back({{sorted.back().where.file, 0, 0}, "", more, "", ""});
  }
  throw InputError(std::move(sorted));
}

}  // namespace stepsim
