// What predictions are set against: the null model, and one scale from a few measured steps.

#include "scenarios/validate.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

namespace stepsim::scenarios {

namespace {

/// The x ≥ 0 for which the sum of |a·x − 1| over all a is least: a median of 1/a, weighted with a.
double least_absolute_scale(std::vector<double> factors) {
  std::sort(factors.begin(), factors.end(), std::greater<>());
  double total = 0;
  for (const double factor : factors) total += factor;
  double sum = 0;
  for (const double factor : factors) {
    sum += factor;
    if (sum >= total / 2) return 1 / factor;
  }
  return 0;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// Suite, GPU type and stack: what one scale is for.
using ScaleKey = std::tuple<std::string, std::string, std::string>;

ScaleKey key_of(const CaseResult& result) {
  return {result.suite, result.step->device, result.step->stack};
}

}  // namespace

void add_null_model(std::vector<CaseResult>& results) {
  std::map<std::string, std::vector<double>> utilisations;  // by GPU type
  for (const CaseResult& result : results) {
    if (result.step)
      utilisations[result.step->device].push_back(result.step->ideal_s / result.step->measured_s);
  }
  for (CaseResult& result : results) {
    if (!result.step) continue;
    ComparedStep& step = *result.step;
    step.null_s = step.ideal_s * least_absolute_scale(utilisations[step.device]);
  }
}

void add_one_number(std::vector<CaseResult>& results) {
  std::map<ScaleKey, std::vector<double>> ratios;
  for (const CaseResult& result : results) {
    if (result.step && result.gives_scale)
      ratios[key_of(result)].push_back(result.step->measured_s / result.step->zero_shot_s);
  }
  for (CaseResult& result : results) {
    if (!result.step) continue;
    const auto found = ratios.find(key_of(result));
    if (found != ratios.end())
      result.step->one_number_s = result.step->zero_shot_s * median(found->second);
  }
}

}  // namespace stepsim::scenarios
