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
  double mean = 0;    // of |e|
  double median = 0;  // of |e|
  double p90 = 0;     // nine tenths of |e| are not above it
  double worst = 0;   // the e that is farthest from 0
  double bias = 0;    // mean of e: below 0 predictions are too fast
};

/// The same cases in every regime. Cases that give the one-number regime its scale are left out of
/// that regime alone.
struct RegimeErrors {
  ErrorSummary zero_shot;
  ErrorSummary one_number;
  ErrorSummary fitted;
  ErrorSummary null_model;
  double inside_interval = 0;  // share of the cases inside the 80 % interval of the fitted regime
};

/// A row of the summary: the cases of one suite and use, of one suite, or all of them.
struct SummaryRow {
  std::string suite;       // empty: all suites
  std::optional<Use> use;  // empty: both
  RegimeErrors errors;
};

ErrorSummary summarise(const std::vector<double>& errors);

/// Of the compared cases among these.
RegimeErrors summarise(const std::vector<const CaseResult*>& results);

/// Each suite in its order (fit, check and both, where there are both), then all suites likewise.
std::vector<SummaryRow> summary_rows(const std::vector<CaseResult>& results);

/// The compared cases, farthest off first.
std::vector<const CaseResult*> by_error(const std::vector<CaseResult>& results);

/// Verdicts on memory over the cases that measured it. «No» is does not fit.
struct MemorySummary {
  std::size_t ran_said_yes = 0;
  std::size_t ran_said_no = 0;
  std::size_t died_said_yes = 0;
  std::size_t died_said_no = 0;
  ErrorSummary peak;  // predicted / measured peak − 1, where one was measured
};
MemorySummary summarise_memory(const std::vector<CaseResult>& results);

}  // namespace stepsim::scenarios
