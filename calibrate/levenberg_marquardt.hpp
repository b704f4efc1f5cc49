#pragma once

/// Non-linear least squares for fits of a dozen bounded parameters to thousands of noisy rows.

#include <Eigen/Core>

#include <functional>
#include <string>
#include <vector>

namespace stepsim::calibrate {

/// A parameter to fit: kept within (lower, upper) by a logistic transform, drawn to `prior` where
/// the data say nothing.
struct Parameter {
  std::string name;
  double prior = 1;
  double lower = 0;
  double upper = 1;
  double prior_spread = 0.5;  // of log(value / prior), one standard deviation
};

struct FitOptions {
  int most_iterations = 30;
  double residual_spread = 0.08;  // residuals beyond a few times this are outliers
  double enough = 1e-4;           // stop when an iteration lowers the cost by less, relatively
};

struct FitResult {
  std::vector<double> values;
  /// Standard deviation of log(value), from the curvature at the solution; and the pair of
  /// parameters that trade against each other most, with their correlation.
  std::vector<double> spread;
  std::string ridge;
  double cost = 0;
  int iterations = 0;
};

/// Residuals of all rows at given parameter values, typically log(predicted / measured).
using Residuals =
    std::function<void(const std::vector<double>& values, Eigen::VectorXd& residuals)>;

/// Minimises a Cauchy loss of the residuals plus the priors by Levenberg-Marquardt with a forward
/// difference Jacobian. Deterministic. Starts at the priors.
FitResult fit(const std::vector<Parameter>& parameters, const Residuals& residuals,
              Eigen::Index row_count, const FitOptions& options);

}  // namespace stepsim::calibrate
