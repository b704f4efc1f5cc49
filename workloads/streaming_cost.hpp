#pragma once

/// How long a kernel takes whose time is its bytes: start-up, then bytes at a share of HBM
/// bandwidth that depends on the kind of kernel. Small ones are all start-up.

#include "workloads/kernel.hpp"

namespace stepsim::workloads {

struct StreamingMachine {
  double memory_bytes_per_s = 0;
  double vector_flops_per_s = 0;  // 0: arithmetic never limits
};

/// Numbers of one device and kind.
struct StreamingCoefficients {
  double memory_efficiency = 0.8;  // share of the datasheet bandwidth that large ones reach
  double start_s = 2e-6;           // launch, ramp-up and drain of one kernel
};

struct StreamingTime {
  double total_s = 0;
  double compute_s = 0;
  double memory_s = 0;
  double fixed_s = 0;
};

/// `launches` kernels share the bytes; each pays its start.
StreamingTime streaming_time(const Streaming& streaming, int launches,
                             const StreamingMachine& machine,
                             const StreamingCoefficients& coefficients);

}  // namespace stepsim::workloads
