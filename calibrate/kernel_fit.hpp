#pragma once

/// From measurements to the kernel profile of a device: every model fitted, with its errors on
/// rows the fit did not see.

#include "calibrate/kernel_measurements.hpp"
#include "calibrate/levenberg_marquardt.hpp"

#include "workloads/kernel_profile.hpp"

#include "topology/device.hpp"

#include <string>
#include <vector>

namespace stepsim::calibrate {

/// What a fit says about itself beside its result.
struct FitReport {
  std::string text;
};

/// Fits one number format of one device. `rows` are all of that device and format.
workloads::GemmProfile fit_gemm_profile(const std::vector<GemmMeasurement>& rows,
                                        const topology::Device& device, FitReport& report);

workloads::AttentionProfile fit_attention_profile(const std::vector<AttentionMeasurement>& rows,
                                                  const topology::Device& device,
                                                  FitReport& report);

workloads::GemmMachine machine_of(const topology::Device& device, topology::MatrixFormat format);

}  // namespace stepsim::calibrate
