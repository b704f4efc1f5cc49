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

ErrorSummary summarise(const std::vector<const CaseResult*>& results) {
  ErrorSummary summary;
  std::vector<double> sizes;
  for (const CaseResult* result : results) {
    if (!result->step) continue;
    const double error = result->step->error();
    sizes.push_back(std::abs(error));
    summary.mean += std::abs(error);
    summary.bias += error;
    summary.null_mean += std::abs(result->step->null_error());
    if (std::abs(error) > std::abs(summary.worst)) summary.worst = error;
  }
  summary.count = sizes.size();
  if (sizes.empty()) return summary;
  std::sort(sizes.begin(), sizes.end());
  const auto count = static_cast<double>(sizes.size());
  summary.mean /= count;
  summary.bias /= count;
  summary.null_mean /= count;
  summary.median = quantile(sizes, 0.5);
  summary.p90 = quantile(sizes, 0.9);
  return summary;
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

}  // namespace stepsim::scenarios
