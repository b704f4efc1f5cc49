#pragma once

/// The roofline of a kernel: its clocks at given rates, which of them is on top, and how close the
/// predicted time comes to it.

#include "workloads/gemm_cost.hpp"
#include "workloads/kernel.hpp"
#include "workloads/kernel_cost.hpp"

#include "sim/job.hpp"

namespace stepsim::workloads {

/// Arithmetic and memory rates to hold a kernel against: a datasheet's, or any a reader asks for.
struct RooflineRates {
  double flops_per_s = 0;
  double bytes_per_s = 0;
  /// Intensity at which both clocks take equally long, in FLOP a byte.
  double ridge() const { return flops_per_s / bytes_per_s; }
};

struct Roofline {
  double flops = 0;
  double bytes = 0;      // every operand once
  double intensity = 0;  // FLOP a byte; 0 when nothing moves
  double compute_s = 0;
  double memory_s = 0;
  sim::Clock clock = sim::Clock::compute;  // the slower of the two; compute when equal

  /// No kernel can be faster.
  double bound_s() const { return compute_s > memory_s ? compute_s : memory_s; }
};

/// Throws RangeError when a rate is not positive.
Roofline roofline(const Kernel& kernel, const RooflineRates& rates);

/// The datasheet's rates for a number format. Throws InputError when the device has none.
RooflineRates datasheet_rates(const KernelCostModel& model, topology::MatrixFormat format);

/// A matrix multiplication against its device's roofline.
struct GemmRoofline {
  Roofline bound;
  RooflineRates rates;
  KernelTime predicted;        // as a training step would pay
  GemmTime candidate;          // the tile and split-k behind it
  double compute_share = 0;    // of the peak arithmetic rate that the prediction reaches
  double bandwidth_share = 0;  // of the peak bandwidth, every operand counted once
};
GemmRoofline gemm_roofline(const KernelCostModel& model, const Gemm& gemm);

}  // namespace stepsim::workloads
