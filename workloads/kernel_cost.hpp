#pragma once

/// How long a kernel takes on a device: fitted models where a profile of the device has been
/// measured, datasheet numbers with its generation's efficiencies where it has not.
/// workloads/gemm_cost.hpp, attention_cost.hpp and streaming_cost.hpp hold the three models.

#include "workloads/attention_cost.hpp"
#include "workloads/gemm_cost.hpp"
#include "workloads/kernel.hpp"
#include "workloads/plan.hpp"
#include "workloads/step_coefficients.hpp"
#include "workloads/streaming_cost.hpp"

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

/// How many times as fast a device does arithmetic and moves bytes in a what-if; infinity: for
/// free.
struct ClockSpeeds {
  double compute = 1;
  double memory = 1;
};

/// The shape of a kernel profile and its reader are in workloads/kernel_profile.hpp.
struct KernelProfile;
struct StreamingProfile;
struct TakenLevels;

class KernelCostModel {
 public:
  /// Takes workloads/kernels/DEVICE.yaml if there is one, else the device's generation scaled by
  /// its datasheet, and says so in `assumed`. `attention` is the implementation every attention
  /// kernel runs.
  /// `step` scales what kernels take in a training step.
  KernelCostModel(const DataDirectory& data, const topology::Device& device,
                  AttentionKernel attention = AttentionKernel::flash2,
                  const StepCoefficients& step = {});
  /// With a profile at hand.
  KernelCostModel(topology::Device device, std::shared_ptr<const KernelProfile> profile,
                  AttentionKernel attention = AttentionKernel::flash2,
                  const StepCoefficients& step = {});
  ~KernelCostModel();

  /// In a training step operands start cold and attention runs the implementation chosen; a
  /// benchmark repeats the measured kernels and finds their operands in L2.
  /// Throws InputError when the device has no arithmetic in the kernel's number format.
  KernelTime time(const Kernel& kernel, Setting setting = Setting::step) const;
  /// What the engine takes, when nothing shares the device.
  sim::KernelCost cost(const Kernel& kernel) const;
  /// The same on a device with other speeds: the slower of arithmetic and memory traffic decides by
  /// how much a kernel gets shorter, and what is fixed stays.
  sim::KernelCost cost(const Kernel& kernel, const ClockSpeeds& speeds) const;
  /// Its speed in a training step while others take so much of the device, for the levels that
  /// occur (workloads/kernel_sharing.hpp).
  sim::KernelSharing sharing(const Kernel& kernel, const TakenLevels& levels) const;
  /// The candidate behind a matrix multiplication's time, correction not applied.
  GemmTime gemm_candidate(const Gemm& gemm, Setting setting = Setting::step) const;

  /// Datasheet rate of arithmetic in FLOP/s. Throws InputError when the device has none in
  /// `format`.
  double peak(topology::MatrixFormat format) const;
  const topology::Device& device() const { return device_; }
  const KernelProfile& profile() const { return *profile_; }
  AttentionKernel attention() const { return attention_; }
  /// Time of the chosen attention kernels over that of the measured ones, 1 where unknown.
  double attention_factor() const;

  /// What the three models are evaluated with.
  GemmMachine machine_for(const Gemm& gemm) const;
  AttentionMachine machine_for(const Attention& attention) const;
  StreamingMachine streaming_machine() const;
  const GemmCoefficients& coefficients_for(const Gemm& gemm) const;
  StreamingCoefficients coefficients_for(const Streaming& streaming) const;

 private:
  KernelTime time_of(const Gemm& gemm, Setting setting) const;
  KernelTime time_of(const Attention& attention, Setting setting) const;
  KernelTime time_of(const Streaming& streaming, int launches, Setting setting) const;
  KernelTime flash_time(const Attention& attention, Setting setting) const;
  KernelTime unfused_time(const Attention& attention) const;
  const StreamingProfile& streaming_profile(StreamingKind kind) const;

  topology::Device device_;
  std::shared_ptr<const KernelProfile> profile_;
  AttentionKernel attention_ = AttentionKernel::flash2;
  StepCoefficients step_;
};

}  // namespace stepsim::workloads
