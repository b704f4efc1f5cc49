#include "workloads/roofline.hpp"

#include "sim/base/error.hpp"

namespace stepsim::workloads {

Roofline roofline(const Kernel& kernel, const RooflineRates& rates) {
  if (!(rates.flops_per_s > 0) || !(rates.bytes_per_s > 0))
    throw RangeError("a roofline needs positive rates of arithmetic and memory");
  Roofline result;
  result.flops = flops(kernel);
  result.bytes = minimum_bytes(kernel);
  if (result.bytes > 0) result.intensity = result.flops / result.bytes;
  result.compute_s = result.flops / rates.flops_per_s;
  result.memory_s = result.bytes / rates.bytes_per_s;
  if (result.memory_s > result.compute_s) result.clock = sim::Clock::memory;
  return result;
}

RooflineRates datasheet_rates(const KernelCostModel& model, topology::MatrixFormat format) {
  return {model.peak(format), model.device().memory_bandwidth.value.bytes_per_second()};
}

GemmRoofline gemm_roofline(const KernelCostModel& model, const Gemm& gemm) {
  const Kernel kernel{"gemm", gemm, 1};
  GemmRoofline result;
  result.rates = datasheet_rates(model, gemm.format);
  result.bound = roofline(kernel, result.rates);
  result.predicted = model.time(kernel);
  result.candidate = model.gemm_candidate(gemm);
  const double time_s = result.predicted.total_s;
  result.compute_share = result.bound.flops / time_s / result.rates.flops_per_s;
  result.bandwidth_share = result.bound.bytes / time_s / result.rates.bytes_per_s;
  return result;
}

}  // namespace stepsim::workloads
