#pragma once

/// What is known about the kernels of one device type, read from workloads/kernels/DEVICE.yaml:
/// the coefficients of the three cost models, each with its source.

#include "workloads/attention_cost.hpp"
#include "workloads/gemm_correction.hpp"
#include "workloads/gemm_cost.hpp"
#include "workloads/plan.hpp"
#include "workloads/streaming_cost.hpp"

#include "topology/device.hpp"

#include "sim/base/data_directory.hpp"
#include "sim/base/sourced.hpp"

#include <map>
#include <string>
#include <vector>

namespace stepsim::workloads {

/// Absolute relative error of a model over the measurements of one band that were held out of its
/// fit.
struct FitError {
  std::string band;  // such as «m,n,k >= 1024»
  int count = 0;
  double mean = 0;
  double median = 0;
  double percentile_95 = 0;
};

struct GemmProfile {
  GemmCoefficients coefficients;
  GemmCorrection correction;
  Source source;
  std::vector<FitError> held_out;
};

struct AttentionProfile {
  AttentionCoefficients coefficients;
  Source source;
  std::vector<FitError> held_out;
  /// Backward time over forward time, by head dimension in rising order.
  std::map<std::int64_t, Sourced<double>> backward_ratio;
  /// Time of a kernel generation over that of the measured kernels.
  std::map<AttentionKernel, Sourced<double>> kernel_factor;
};

struct StreamingProfile {
  StreamingCoefficients coefficients;
  Source source;
};

struct KernelProfile {
  std::string device;  // whose measurements these are
  std::map<topology::MatrixFormat, GemmProfile> gemm;
  AttentionProfile attention;
  std::map<StreamingKind, StreamingProfile> streaming;
  std::string file;  // where it was read from; empty: built in
  std::string hash;
};

/// The ratio to use for a head dimension: its own, else that of the nearest smaller one measured,
/// else the smallest's.
const Sourced<double>& backward_ratio(const AttentionProfile& profile, std::int64_t head_dim);

/// Efficiencies typical of a generation, nothing of them measured on the device at hand: the start
/// of every fit, and the last resort. All `assumed`.
KernelProfile typical_profile(topology::Architecture architecture);

}  // namespace stepsim::workloads
