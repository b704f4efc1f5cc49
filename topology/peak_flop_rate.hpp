#pragma once

/// The peak that a device's utilisation is a share of.

#include "topology/device.hpp"

namespace stepsim::topology {

/// A format and its dense peak.
struct UtilisationPeak {
  MatrixFormat format = MatrixFormat::bf16;
  double flops_per_second = 0;  // 0: the device file states neither
};

/// The dense bf16 peak, or fp16's where that is higher: a V100 has tensor cores for fp16 only, and
/// a utilisation of the rate of its fp32 units would exceed one.
UtilisationPeak utilisation_peak(const Device& device);

}  // namespace stepsim::topology
