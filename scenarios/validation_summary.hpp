#pragma once

/// Errors of many compared cases, in a few numbers.

#include "scenarios/validate.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace stepsim::scenarios {

/// Of errors e = predicted step time / measured step time − 1.
struct ErrorSummary {
  std::size_t count = 0;
  double mean = 0;       // of |e|
  double median = 0;     // of |e|
  double p90 = 0;        // nine tenths of |e| are not above it
  double worst = 0;      // the e that is farthest from 0
  double bias = 0;       // mean of e: below 0 predictions are too fast
  double null_mean = 0;  // of |e| of the null model
};

/// A row of the summary: the cases of one suite and use, of one suite, or all of them.
struct SummaryRow {
  std::string suite;       // empty: all suites
  std::optional<Use> use;  // empty: both
  ErrorSummary errors;
};

/// Of the compared cases among these.
ErrorSummary summarise(const std::vector<const CaseResult*>& results);

/// Each suite in its order (fit, check and both, where there are both), then all suites likewise.
std::vector<SummaryRow> summary_rows(const std::vector<CaseResult>& results);

/// The compared cases, farthest off first.
std::vector<const CaseResult*> by_error(const std::vector<CaseResult>& results);

}  // namespace stepsim::scenarios
