#pragma once

/// Fits the coefficients of the GEMM model to measured times of one device and number format.

#include "calibrate/kernel_measurements.hpp"
#include "calibrate/levenberg_marquardt.hpp"

#include "workloads/gemm_cost.hpp"

#include <cstddef>
#include <vector>

namespace stepsim::calibrate {

/// The fitted numbers with their physical bounds and the priors to start from.
std::vector<Parameter> gemm_parameters(const workloads::GemmCoefficients& prior);
/// Coefficients with the fitted numbers set to `values`, everything else as in `prior`.
workloads::GemmCoefficients with_values(const workloads::GemmCoefficients& prior,
                                        const std::vector<double>& values);

/// At most `count` rows spread evenly over size bands: large (every size at least 1024), tall
/// (m at least 128) and thin (the rest), as 2 : 2 : 1.
std::vector<GemmMeasurement> sample(const std::vector<GemmMeasurement>& rows, std::size_t count);

FitResult fit_gemm(const std::vector<GemmMeasurement>& rows, const workloads::GemmMachine& machine,
                   const workloads::GemmCoefficients& prior, const FitOptions& options);

}  // namespace stepsim::calibrate
