#include "topology/peak_flop_rate.hpp"

namespace stepsim::topology {

UtilisationPeak utilisation_peak(const Device& device) {
  UtilisationPeak peak;
  for (const MatrixFormat format : {MatrixFormat::bf16, MatrixFormat::fp16}) {
    const auto found = device.peak.find(format);
    if (found == device.peak.end()) continue;
    const double rate = found->second.value.flops_per_second();
    if (rate > peak.flops_per_second) peak = {format, rate};
  }
  return peak;
}

}  // namespace stepsim::topology
