#pragma once

/// How long a kernel takes on a device: fitted models where a profile of the device has been
/// measured, datasheet numbers with stated efficiencies where it has not. workloads/gemm_cost.hpp,
/// attention_cost.hpp and streaming_cost.hpp hold the three models.

#include "workloads/kernel.hpp"

#include "topology/device.hpp"

#include "sim/job.hpp"

#include "sim/base/data_directory.hpp"

#include <memory>
#include <string>

namespace stepsim::workloads {

/// The parts of a kernel's time; `total_s` is not their sum: the clocks overlap.
struct KernelTime {
  double total_s = 0;
  double compute_s = 0;  // arithmetic alone at the sustained rate
  double memory_s = 0;   // HBM traffic alone
  double fixed_s = 0;    // ramp-up, drain, split-k synchronisation
  bool assumed = false;
  std::string source;  // what the number rests on
};

/// The shape of a kernel profile and its reader are in workloads/kernel_profile.hpp.
struct KernelProfile;

class KernelCostModel {
 public:
  /// Takes workloads/kernels/DEVICE.yaml if there is one, else the device's generation scaled by
  /// its datasheet, and says so in `assumed`.
  KernelCostModel(const DataDirectory& data, const topology::Device& device);
  ~KernelCostModel();

  KernelTime time(const Kernel& kernel) const;
  sim::KernelCost cost(const Kernel& kernel) const;
  const topology::Device& device() const { return device_; }
  const KernelProfile& profile() const { return *profile_; }

 private:
  topology::Device device_;
  std::shared_ptr<const KernelProfile> profile_;
};

}  // namespace stepsim::workloads
