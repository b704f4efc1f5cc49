#include "calibrate/levenberg_marquardt.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include <algorithm>
#include <cmath>

namespace stepsim::calibrate {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

double to_value(const Parameter& p, double free) {
  return p.lower + (p.upper - p.lower) / (1 + std::exp(-free));
}

double to_free(const Parameter& p, double value) {
  const double share = std::clamp((value - p.lower) / (p.upper - p.lower), 0.01, 0.99);
  return std::log(share / (1 - share));
}

class Problem {
 public:
  Problem(const std::vector<Parameter>& parameters, const Residuals& residuals, Index rows,
          const FitOptions& options)
      : parameters_(parameters), residuals_(residuals), rows_(rows), options_(options) {}

  std::vector<double> values(const VectorXd& free) const {
    std::vector<double> result;
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      result.push_back(to_value(parameters_[i], free[static_cast<Index>(i)]));
    return result;
  }

  /// Scaled residuals: the rows, then the priors.
  VectorXd evaluate(const VectorXd& free) const {
    const std::vector<double> at = values(free);
    VectorXd rows(rows_);
    residuals_(at, rows);
    VectorXd all(rows_ + static_cast<Index>(parameters_.size()));
    all.head(rows_) = rows / options_.residual_spread;
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      all[rows_ + static_cast<Index>(i)] =
          std::log(at[i] / parameters_[i].prior) / parameters_[i].prior_spread;
    return all;
  }

  /// Cauchy loss of the rows, square loss of the priors.
  double cost(const VectorXd& residuals) const {
    double sum = residuals.tail(residuals.size() - rows_).squaredNorm();
    for (Index i = 0; i < rows_; ++i)
      sum += scale * std::log1p(residuals[i] * residuals[i] / scale);
    return sum;
  }

  /// Weights that make the square loss touch the Cauchy loss at these residuals.
  VectorXd weights(const VectorXd& residuals) const {
    VectorXd weight = VectorXd::Ones(residuals.size());
    for (Index i = 0; i < rows_; ++i) weight[i] = 1 / (1 + residuals[i] * residuals[i] / scale);
    return weight;
  }

  MatrixXd jacobian(const VectorXd& free, const VectorXd& at) const {
    constexpr double step = 1e-3;
    MatrixXd derivative(at.size(), free.size());
    for (Index i = 0; i < free.size(); ++i) {
      VectorXd moved = free;
      moved[i] += step;
      derivative.col(i) = (evaluate(moved) - at) / step;
    }
    return derivative;
  }

 private:
  static constexpr double scale = 4;  // outliers begin at two spreads

  const std::vector<Parameter>& parameters_;
  const Residuals& residuals_;
  Index rows_;
  const FitOptions& options_;
};

/// Spreads of log(value) and the strongest correlation, from the inverse of the normal matrix.
void describe_spread(const std::vector<Parameter>& parameters, const VectorXd& free,
                     const MatrixXd& normal, FitResult& result) {
  const MatrixXd covariance = normal.inverse();
  double strongest = 0;
  for (Index i = 0; i < free.size(); ++i) {
    const Parameter& p = parameters[static_cast<std::size_t>(i)];
    const double value = result.values[static_cast<std::size_t>(i)];
    const double slope = (value - p.lower) * (p.upper - value) / (p.upper - p.lower) / value;
    result.spread.push_back(std::sqrt(std::max(0.0, covariance(i, i))) * slope);
    for (Index j = 0; j < i; ++j) {
      const double correlation = covariance(i, j) / std::sqrt(covariance(i, i) * covariance(j, j));
      if (std::abs(correlation) <= std::abs(strongest)) continue;
      strongest = correlation;
      result.ridge = parameters[static_cast<std::size_t>(j)].name + " and " + p.name +
                     " (correlation " + std::to_string(correlation).substr(0, 5) + ")";
    }
  }
}

}  // namespace

FitResult fit(const std::vector<Parameter>& parameters, const Residuals& residuals, Index row_count,
              const FitOptions& options) {
  const Problem problem(parameters, residuals, row_count, options);
  VectorXd free(static_cast<Index>(parameters.size()));
  for (std::size_t i = 0; i < parameters.size(); ++i)
    free[static_cast<Index>(i)] = to_free(parameters[i], parameters[i].prior);

  VectorXd at = problem.evaluate(free);
  double cost = problem.cost(at);
  double damping = 1e-2;
  FitResult result;
  MatrixXd normal;
  for (result.iterations = 0; result.iterations < options.most_iterations; ++result.iterations) {
    const MatrixXd derivative = problem.jacobian(free, at);
    const VectorXd weight = problem.weights(at);
    const MatrixXd weighted = weight.asDiagonal() * derivative;
    normal = derivative.transpose() * weighted;
    const VectorXd gradient = weighted.transpose() * at;
    const double before = cost;
    for (int attempt = 0; attempt < 8; ++attempt) {
      MatrixXd damped = normal;
      damped.diagonal() += damping * (normal.diagonal().array() + 1e-6).matrix();
      const VectorXd moved = free - damped.ldlt().solve(gradient).cwiseMax(-2).cwiseMin(2);
      const VectorXd there = problem.evaluate(moved);
      const double lower = problem.cost(there);
      if (std::isfinite(lower) && lower < cost) {
        free = moved;
        at = there;
        cost = lower;
        damping = std::max(damping / 5, 1e-6);
        break;
      }
      damping *= 4;
    }
    if (before - cost < options.enough * before) break;
  }
  result.values = problem.values(free);
  result.cost = cost;
  describe_spread(parameters, free, normal, result);
  return result;
}

}  // namespace stepsim::calibrate
