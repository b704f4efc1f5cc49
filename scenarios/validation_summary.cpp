#include "scenarios/validation_summary.hpp"

#include <algorithm>
#include <cmath>

namespace stepsim::scenarios {

namespace {

/// Linear between the values of a sorted list, which is not empty.
double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::vector<const CaseResult*> compared(const std::vector<CaseResult>& results,
                                        const std::string& suite, std::optional<Use> use) {
  std::vector<const CaseResult*> chosen;
  for (const CaseResult& result : results) {
    if (!result.step || (!suite.empty() && result.suite != suite)) continue;
    if (!use || result.use == *use) chosen.push_back(&result);
  }
  return chosen;
}

void add_rows(const std::vector<CaseResult>& results, const std::string& suite,
              std::vector<SummaryRow>& rows) {
  const auto fit = compared(results, suite, Use::fit);
  const auto check = compared(results, suite, Use::check);
  if (!fit.empty()) rows.push_back({suite, Use::fit, summarise(fit)});
  if (!check.empty()) rows.push_back({suite, Use::check, summarise(check)});
  if (!fit.empty() && !check.empty())
    rows.push_back({suite, {}, summarise(compared(results, suite, {}))});
}

}  // namespace

ErrorSummary summarise(const std::vector<double>& errors) {
  ErrorSummary summary;
  summary.count = errors.size();
  if (errors.empty()) return summary;
  std::vector<double> sizes;
  for (const double error : errors) {
    sizes.push_back(std::abs(error));
    summary.mean += std::abs(error);
    summary.bias += error;
    if (std::abs(error) > std::abs(summary.worst)) summary.worst = error;
  }
  std::sort(sizes.begin(), sizes.end());
  const auto count = static_cast<double>(sizes.size());
  summary.mean /= count;
  summary.bias /= count;
  summary.median = quantile(sizes, 0.5);
  summary.p90 = quantile(sizes, 0.9);
  return summary;
}

RegimeErrors summarise(const std::vector<const CaseResult*>& results) {
  const auto errors_in = [&](Regime regime) {
    std::vector<double> errors;
    for (const CaseResult* result : results) {
      if (!result->step || (regime == Regime::one_number && result->gives_scale)) continue;
      const std::optional<double> predicted_s = result->step->predicted_s(regime);
      if (predicted_s) errors.push_back(*predicted_s / result->step->measured_s - 1);
    }
    return errors;
  };
  std::vector<double> null_errors;
  double inside = 0;
  for (const CaseResult* result : results) {
    if (!result->step) continue;
    null_errors.push_back(result->step->null_error());
    if (result->step->inside_interval()) inside += 1;
  }
  const double count = static_cast<double>(std::max<std::size_t>(1, null_errors.size()));
  return {summarise(errors_in(Regime::zero_shot)), summarise(errors_in(Regime::one_number)),
          summarise(errors_in(Regime::fitted)), summarise(null_errors), inside / count};
}

std::vector<SummaryRow> summary_rows(const std::vector<CaseResult>& results) {
  std::vector<std::string> suites;
  for (const CaseResult& result : results) {
    if (std::find(suites.begin(), suites.end(), result.suite) == suites.end())
      suites.push_back(result.suite);
  }
  std::vector<SummaryRow> rows;
  for (const std::string& suite : suites) add_rows(results, suite, rows);
  if (suites.size() > 1) add_rows(results, "", rows);
  return rows;
}

std::vector<const CaseResult*> by_error(const std::vector<CaseResult>& results) {
  std::vector<const CaseResult*> sorted = compared(results, "", {});
  std::stable_sort(sorted.begin(), sorted.end(), [](const CaseResult* a, const CaseResult* b) {
    return std::abs(a->step->error()) > std::abs(b->step->error());
  });
  return sorted;
}

MemorySummary summarise_memory(const std::vector<CaseResult>& results) {
  MemorySummary summary;
  std::vector<double> errors;
  for (const CaseResult& result : results) {
    if (!result.memory) continue;
    const bool said_no = result.memory->verdict == workloads::FitVerdict::does_not_fit;
    if (result.memory->ran_out)
      ++(said_no ? summary.died_said_no : summary.died_said_yes);
    else
      ++(said_no ? summary.ran_said_no : summary.ran_said_yes);
    if (result.memory->measured)
      errors.push_back(static_cast<double>(result.memory->predicted.count()) /
                           static_cast<double>(result.memory->measured->count()) -
                       1);
  }
  summary.peak = summarise(errors);
  return summary;
}

}  // namespace stepsim::scenarios
