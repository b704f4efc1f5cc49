#include "calibrate/step_fit.hpp"

#include "calibrate/levenberg_marquardt.hpp"

#include <cmath>

namespace stepsim::calibrate {

namespace {

constexpr double widest = 2.5;
/// Steps of well described stacks scatter by so much; far more is an outlier.
constexpr double residual_spread = 0.05;

}  // namespace

double residual_at(const StepRow& row, const std::vector<double>& at,
                   const std::vector<double>& values) {
  double residual = row.residual;
  for (std::size_t k = 0; k < values.size(); ++k)
    residual += row.slopes[k] * std::log(values[k] / at[k]);
  return residual;
}

StepFit fit_steps(const std::vector<workloads::StepCoefficient>& coefficients,
                  const std::vector<double>& at, const std::vector<StepRow>& rows) {
  std::vector<Parameter> parameters;
  for (const workloads::StepCoefficient& coefficient : coefficients)
    parameters.push_back({coefficient.name, coefficient.prior, coefficient.prior / widest,
                          coefficient.prior * widest, coefficient.prior_spread});
  FitOptions options;
  options.residual_spread = residual_spread;
  const Residuals residuals = [&](const std::vector<double>& values, Eigen::VectorXd& out) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      out[static_cast<Eigen::Index>(i)] = residual_at(rows[i], at, values);
  };
  FitResult result = fit(parameters, residuals, static_cast<Eigen::Index>(rows.size()), options);
  return {std::move(result.values), std::move(result.spread), std::move(result.ridge)};
}

}  // namespace stepsim::calibrate
