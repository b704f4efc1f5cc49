#pragma once

/// What issuing kernels costs the host thread of a rank.

#include "workloads/kernel.hpp"

#include "sim/base/sourced_number.hpp"
#include "sim/base/units.hpp"

namespace stepsim::workloads {

/// How the host gets kernels to the GPU.
enum class LaunchMode {
  eager,     // Python, dispatcher, autograd and driver for every kernel
  compiled,  // generated code calls the driver kernel by kernel
  graph      // one launch replays a captured CUDA graph
};
LaunchMode launch_mode(bool compile, bool cuda_graph);
const char* to_string(LaunchMode mode);

/// Host time, and what the device adds.
struct HostCosts {
  Sourced<Time> eager_kernel;  // host time of one kernel
  Sourced<Time> compiled_kernel;
  Sourced<Time> graph_launch;    // host time of one graph, whatever its size
  Sourced<Time> graph_node;      // device time between two kernels of a graph
  Sourced<Time> launch_latency;  // from the driver call to the start on an idle stream
};

/// Figures of public measurements; what nobody measured is assumed, and says so.
HostCosts default_host_costs();

/// Host time of issuing a kernel with all its launches. Zero in a graph.
Time issue_time(const Kernel& kernel, LaunchMode mode, const HostCosts& costs);

}  // namespace stepsim::workloads
