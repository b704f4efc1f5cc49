#include "workloads/host_launch_costs.hpp"

namespace stepsim::workloads {

LaunchMode launch_mode(bool compile, bool cuda_graph) {
  if (cuda_graph) return LaunchMode::graph;
  return compile ? LaunchMode::compiled : LaunchMode::eager;
}

const char* to_string(LaunchMode mode) {
  switch (mode) {
    case LaunchMode::eager:
      return "eager";
    case LaunchMode::compiled:
      return "compiled";
    case LaunchMode::graph:
      return "CUDA graph";
  }
  return "";
}

HostCosts default_host_costs() {
  HostCosts costs;
  costs.eager_kernel = {
      Time::microseconds(10),
      {SourceKind::assumed,
       "public figures for an eager PyTorch operation are 5 to 25 us of host time; 10 is within"}};
  costs.compiled_kernel = {
      Time::microseconds(6),
      {SourceKind::assumed,
       "a kernel launch alone is 4 to 6 us; generated code adds little to it"}};
  costs.graph_launch = {
      Time::microseconds(10),
      {SourceKind::assumed, "about 10 us for one graph launch; not measured here"}};
  costs.graph_node = {Time::nanoseconds(500),
                      {SourceKind::assumed,
                       "below a microsecond between the kernels of a graph; not measured here"}};
  costs.launch_latency = {
      Time::microseconds(5),
      {SourceKind::measured, "public measurements of cudaLaunchKernel: 4 to 6 us until the start"}};
  return costs;
}

Time issue_time(const Kernel& kernel, LaunchMode mode, const HostCosts& costs) {
  switch (mode) {
    case LaunchMode::eager:
      return costs.eager_kernel.value * kernel.launches;
    case LaunchMode::compiled:
      return costs.compiled_kernel.value * kernel.launches;
    case LaunchMode::graph:
      return Time::zero();
  }
  return Time::zero();
}

}  // namespace stepsim::workloads
