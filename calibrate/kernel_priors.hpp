#pragma once

/// Where fits start, and what they fall back to where no measurement speaks: numbers typical of a
/// generation, rounded.

#include "workloads/kernel_profile.hpp"

#include "topology/device.hpp"

namespace stepsim::calibrate {

workloads::GemmCoefficients gemm_prior(topology::Architecture architecture,
                                       topology::MatrixFormat format);

/// Efficiency of every head dimension is the prior; none is marked as measured.
workloads::AttentionCoefficients attention_prior(topology::Architecture architecture);

/// Backward over forward time and kernel generations, all `assumed`.
void assume_attention_ratios(topology::Architecture architecture,
                             workloads::AttentionProfile& profile);

/// Shares of bandwidth of every kind of streaming kernel, all `assumed`.
std::map<workloads::StreamingKind, workloads::StreamingProfile> streaming_prior();

}  // namespace stepsim::calibrate
