#include "scenarios/refit.hpp"

#include "scenarios/simulate.hpp"

#include "calibrate/step_fit.hpp"

#include "sim/base/error.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>
#include <thread>

namespace stepsim::scenarios {

namespace {

using calibrate::StepFit;
using calibrate::StepRow;
using workloads::StepCoefficient;
using workloads::StepCoefficientSet;

/// Times the slopes are taken anew: the model is close to linear in the logarithms.
constexpr int linearisations = 3;
constexpr double slope_step = 0.03;
/// Fewer rows say nothing about three or four factors.
constexpr std::size_t least_rows = 8;
constexpr std::size_t least_models = 3;

struct FitCase {
  Scenario scenario;
  double measured_s = 0;
  std::string source;
};

bool belongs(const Scenario& scenario, const StepCoefficientSet& set) {
  return scenario.cluster.node.device.architecture == set.generation && scenario.stack == set.stack;
}

std::vector<FitCase> fit_cases(const DataDirectory& data, const std::vector<Suite>& suites,
                               const StepCoefficientSet& set) {
  std::vector<FitCase> cases;
  for (const Suite& suite : suites) {
    for (const SuiteCase& suite_case : suite.cases) {
      if (suite_case.use != Use::fit || !suite_case.excluded.empty()) continue;
      Scenario scenario = scenario_of(data, suite_case);
      if (!belongs(scenario, set) || !scenario.measured || !scenario.measured->step_time_s)
        continue;
      const double measured_s = *scenario.measured->step_time_s;
      cases.push_back({std::move(scenario), measured_s, suite.name});
    }
  }
  return cases;
}

/// log(predicted / measured) of all cases with these values.
class Predictor {
 public:
  Predictor(const DataDirectory& data, const std::vector<FitCase>& cases,
            const StepCoefficientSet& set, int threads)
      : data_(data), cases_(cases), set_(set), threads_(std::max(1, threads)) {}

  std::vector<double> residuals(const std::vector<double>& values) const {
    StepCoefficientSet set = set_;
    for (std::size_t i = 0; i < values.size(); ++i) set.coefficients[i].value = values[i];
    std::vector<double> residuals(cases_.size());
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t i = next++; i < cases_.size(); i = next++) {
        Scenario scenario = cases_[i].scenario;
        scenario.step_coefficients = set;
        const double predicted_s = predict_step(data_, scenario).step_time.seconds();
        residuals[i] = std::log(predicted_s / cases_[i].measured_s);
      }
    };
    std::vector<std::thread> threads;
    for (int i = 1; i < threads_; ++i) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    return residuals;
  }

  std::vector<StepRow> linear_rows(const std::vector<double>& values) const {
    const std::vector<double> base = residuals(values);
    std::vector<StepRow> rows;
    for (std::size_t i = 0; i < cases_.size(); ++i)
      rows.push_back({cases_[i].scenario.model.name, cases_[i].source, base[i], {}});
    for (std::size_t k = 0; k < values.size(); ++k) {
      std::vector<double> moved = values;
      moved[k] *= std::exp(slope_step);
      const std::vector<double> after = residuals(moved);
      for (std::size_t i = 0; i < rows.size(); ++i)
        rows[i].slopes.push_back((after[i] - base[i]) / slope_step);
    }
    return rows;
  }

 private:
  const DataDirectory& data_;
  const std::vector<FitCase>& cases_;
  const StepCoefficientSet& set_;
  int threads_;
};

std::vector<double> residuals_at(const std::vector<StepRow>& rows, const std::vector<double>& at,
                                 const std::vector<double>& values) {
  std::vector<double> residuals;
  for (const StepRow& row : rows) residuals.push_back(calibrate::residual_at(row, at, values));
  return residuals;
}

/// Residuals of each group of rows, predicted by a fit to all others.
std::vector<double> left_out(const StepCoefficientSet& set, const std::vector<StepRow>& rows,
                             const std::vector<double>& at, std::string StepRow::*group) {
  std::set<std::string> groups;
  for (const StepRow& row : rows) groups.insert(row.*group);
  std::vector<double> residuals;
  if (groups.size() < 2) return residuals;
  for (const std::string& name : groups) {
    std::vector<StepRow> others;
    std::vector<StepRow> own;
    for (const StepRow& row : rows) (row.*group == name ? own : others).push_back(row);
    const StepFit fitted = calibrate::fit_steps(set.coefficients, at, others);
    for (const double residual : residuals_at(own, at, fitted.values))
      residuals.push_back(residual);
  }
  return residuals;
}

ErrorSummary errors_of(const std::vector<double>& residuals) {
  std::vector<double> errors;
  for (const double residual : residuals) errors.push_back(std::exp(residual) - 1);
  return summarise(errors);
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

std::vector<double> priors_of(const StepCoefficientSet& set) {
  std::vector<double> values;
  for (const StepCoefficient& coefficient : set.coefficients) values.push_back(coefficient.prior);
  return values;
}

void set_to_priors(StepCoefficientSet& set, const std::string& why) {
  for (StepCoefficient& coefficient : set.coefficients) {
    coefficient.value = coefficient.prior;
    coefficient.spread = coefficient.prior_spread;
  }
  set.fitted_to = why;
  set.sources.clear();
  set.interval_low = set.interval_high = 0;
}

void accept(RefitGroup& group, const StepFit& fitted, const std::vector<StepRow>& rows,
            const std::vector<double>& outside) {
  StepCoefficientSet& set = group.set;
  for (std::size_t k = 0; k < set.coefficients.size(); ++k) {
    set.coefficients[k].value = fitted.values[k];
    set.coefficients[k].spread = fitted.spread[k];
  }
  std::set<std::string> sources;
  for (const StepRow& row : rows) sources.insert(row.source);
  set.sources.assign(sources.begin(), sources.end());
  set.fitted_to =
      std::to_string(group.rows) + " steps of " + std::to_string(group.models) + " models";
  set.interval_low = std::exp(-quantile(outside, 0.9));
  set.interval_high = std::exp(-quantile(outside, 0.1));
}

RefitGroup refit_set(const DataDirectory& data, const std::vector<Suite>& suites,
                     const StepCoefficientSet& before, int threads) {
  RefitGroup group;
  group.set = before;
  const std::vector<FitCase> cases = fit_cases(data, suites, before);
  std::set<std::string> models;
  for (const FitCase& each : cases) models.insert(each.scenario.model.name);
  group.rows = cases.size();
  group.models = models.size();
  if (group.rows < least_rows || group.models < least_models) {
    set_to_priors(group.set, "no step: priors");
    return group;
  }
  const Predictor predictor(data, cases, before, threads);
  std::vector<double> at = priors_of(before);
  std::vector<StepRow> rows = predictor.linear_rows(at);
  group.unfitted = errors_of(residuals_at(rows, at, at));
  StepFit fitted;
  for (int i = 0; i < linearisations; ++i) {
    if (i > 0) rows = predictor.linear_rows(at);
    fitted = calibrate::fit_steps(before.coefficients, at, rows);
    if (i + 1 < linearisations) at = fitted.values;
  }
  group.ridge = fitted.ridge;
  group.in_sample = errors_of(residuals_at(rows, at, fitted.values));
  const std::vector<double> outside = left_out(before, rows, at, &StepRow::model);
  group.without_model = errors_of(outside);
  group.without_source = errors_of(left_out(before, rows, at, &StepRow::source));
  group.accepted = group.without_model.mean < group.unfitted.mean;
  if (group.accepted)
    accept(group, fitted, rows, outside);
  else
    set_to_priors(group.set, "no step: a fit was no better on models left out");
  return group;
}

}  // namespace

std::vector<RefitGroup> refit(const DataDirectory& data, const std::vector<Suite>& suites,
                              const workloads::StepCoefficientFile& file, int threads) {
  std::vector<RefitGroup> groups;
  for (const StepCoefficientSet& set : file.sets)
    groups.push_back(refit_set(data, suites, set, threads));
  return groups;
}

}  // namespace stepsim::scenarios
