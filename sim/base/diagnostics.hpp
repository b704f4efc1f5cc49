#pragma once

/// Collects the problems of an input, so that one run reports them all.

#include "sim/base/error.hpp"

#include <cstddef>
#include <vector>

namespace stepsim {

class Diagnostics {
 public:
  void add(Diagnostic diagnostic);
  bool empty() const { return diagnostics_.empty(); }
  /// How many were added.
  std::size_t count() const { return diagnostics_.size() + left_out_; }
  /// Throws one InputError with everything that was added, in the order of the file. Beyond the
  /// first hundred only the number is told.
  void throw_if_any() const;

 private:
  std::vector<Diagnostic> diagnostics_;
  std::size_t left_out_ = 0;
};

}  // namespace stepsim
