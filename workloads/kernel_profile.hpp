#pragma once

/// What is known about the kernels of one device type, read from workloads/kernels/DEVICE.yaml:
/// the coefficients of the three cost models, each with its source. `stepsim-fit-kernels` (in
/// calibrate/tools) writes these files from public measurements.

#include "workloads/attention_cost.hpp"
#include "workloads/gemm_correction.hpp"
#include "workloads/gemm_cost.hpp"
#include "workloads/plan.hpp"
#include "workloads/streaming_cost.hpp"

#include "topology/device.hpp"

#include "sim/base/data_directory.hpp"
#include "sim/base/sourced_number.hpp"

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
  std::string inherited_from;  // the device it was measured on, when that is another
};

struct AttentionProfile {
  AttentionCoefficients coefficients;
  Source source;
  std::vector<FitError> held_out;
  std::string inherited_from;
  /// Backward time over forward time, by head dimension.
  std::map<std::int64_t, Sourced<double>> backward_ratio;
  /// Time of a kernel generation over that of the measured kernels.
  std::map<AttentionKernel, Sourced<double>> kernel_factor;
};

struct StreamingProfile {
  Sourced<double> memory_efficiency;
  Sourced<double> start_s;
  std::string inherited_from;

  StreamingCoefficients coefficients() const { return {memory_efficiency.value, start_s.value}; }
};

/// How much of the time that the loss of SMs or of memory bandwidth to collectives adds to a kernel
/// by its model (workloads/kernel_sharing.hpp) is charged: 1 all of it, 0 none. Profiles without an
/// `interference` block have these.
struct InterferenceProfile {
  Sourced<double> sm_contention{
      1,
      {SourceKind::assumed, "kernels lose the SMs that collectives hold, neither more nor less"}};
  Sourced<double> memory_contention{
      1,
      {SourceKind::assumed, "kernels lose the memory bandwidth that collectives take, as it is"}};
};

struct KernelProfile {
  std::string device;
  std::map<topology::MatrixFormat, GemmProfile> gemm;
  AttentionProfile attention;
  std::map<StreamingKind, StreamingProfile> streaming;
  InterferenceProfile interference;
  std::string file;  // where it was read from
  std::string hash;  // of its bytes, its grids' and those of the file it inherits
};

/// The profile of a device: its own file, filled up from the one it inherits; without a file of its
/// own, all of its generation's. Throws InputError with every problem of a file.
KernelProfile load_kernel_profile(const DataDirectory& data, const topology::Device& device);

/// Reads one file. Blocks it leaves out are taken from the file it says it inherits.
KernelProfile read_kernel_profile(const DataDirectory& data, const std::string& name);

/// The ratio to use for a head dimension: its own, else that of the nearest smaller one measured,
/// else the smallest's.
const Sourced<double>& backward_ratio(const AttentionProfile& profile, std::int64_t head_dim);

}  // namespace stepsim::workloads
