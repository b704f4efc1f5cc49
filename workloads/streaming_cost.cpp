#include "workloads/streaming_cost.hpp"

#include <algorithm>

namespace stepsim::workloads {

StreamingTime streaming_time(const Streaming& streaming, int launches,
                             const StreamingMachine& machine,
                             const StreamingCoefficients& coefficients) {
  StreamingTime time;
  time.fixed_s = coefficients.start_s * std::max(1, launches);
  time.memory_s = (streaming.bytes_read + streaming.bytes_written) /
                  (machine.memory_bytes_per_s * coefficients.memory_efficiency);
  if (machine.vector_flops_per_s > 0) time.compute_s = streaming.flops / machine.vector_flops_per_s;
  time.total_s = time.fixed_s + std::max(time.memory_s, time.compute_s);
  return time;
}

}  // namespace stepsim::workloads
