#pragma once

/// Errors of a cost model against measurements, by band of size.

#include "calibrate/kernel_measurements.hpp"

#include "workloads/kernel_profile.hpp"

#include <functional>
#include <string>
#include <vector>

namespace stepsim::calibrate {

/// Bands «all», «m,n,k >= 1024», «m >= 128» and «m < 128», those that have rows.
std::vector<workloads::FitError> gemm_errors(
    const std::vector<GemmMeasurement>& rows,
    const std::function<double(const workloads::Gemm&)>& predict_s);

/// Bands «all», «FLOPs >= 1e11», «FLOPs < 1e10» and one for each head dimension.
std::vector<workloads::FitError> attention_errors(
    const std::vector<AttentionMeasurement>& rows,
    const std::function<double(const workloads::Attention&)>& predict_s);

/// A table of errors for people, a line a band.
std::string format_errors(const std::vector<workloads::FitError>& errors);

}  // namespace stepsim::calibrate
