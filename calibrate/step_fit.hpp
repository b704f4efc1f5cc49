#pragma once

/// Fits the factors of workloads/step_coefficients.hpp to measured steps that were linearised: each
/// row is log(predicted / measured) at some values, and how it moves with each factor's logarithm.

#include "workloads/step_coefficients.hpp"

#include <string>
#include <vector>

namespace stepsim::calibrate {

struct StepRow {
  std::string model;
  std::string source;
  double residual = 0;         // log(predicted / measured) at the values of the linearisation
  std::vector<double> slopes;  // by the logarithm of each factor
};

struct StepFit {
  std::vector<double> values;
  std::vector<double> spread;  // of log(value), one standard deviation
  std::string ridge;           // the factors that trade against each other most
};

/// log(predicted / measured) of a row at `values`, linearised at `at`.
double residual_at(const StepRow& row, const std::vector<double>& at,
                   const std::vector<double>& values);

/// With the coefficients' priors, a Cauchy loss against outliers, and factors kept within 2.5 times
/// their prior.
StepFit fit_steps(const std::vector<workloads::StepCoefficient>& coefficients,
                  const std::vector<double>& at, const std::vector<StepRow>& rows);

}  // namespace stepsim::calibrate
