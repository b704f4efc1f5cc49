#pragma once

/// Fits the attention model to measured forward times of one device.

#include "calibrate/kernel_measurements.hpp"
#include "calibrate/levenberg_marquardt.hpp"

#include "workloads/attention_cost.hpp"

#include <vector>

namespace stepsim::calibrate {

struct AttentionFit {
  workloads::AttentionCoefficients coefficients;
  FitResult result;
};

/// Head dimensions that the rows have are fitted and marked as measured; the prior's others stay,
/// unmeasured.
AttentionFit fit_attention(const std::vector<AttentionMeasurement>& rows,
                           const workloads::AttentionMachine& machine,
                           const workloads::AttentionCoefficients& prior,
                           const FitOptions& options);

}  // namespace stepsim::calibrate
