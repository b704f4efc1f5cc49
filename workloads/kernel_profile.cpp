#include "workloads/kernel_profile.hpp"

#include <algorithm>
#include <iterator>

namespace stepsim::workloads {

namespace {

using topology::Architecture;

/// The measured device that stands for a generation.
const char* representative(Architecture architecture) {
  switch (architecture) {
    case Architecture::volta:
    case Architecture::ampere:
      return "a100-sxm-80gb";
    case Architecture::hopper:
      return "h100-sxm-80gb";
    case Architecture::blackwell:
      return "b200-sxm-180gb";
  }
  return "h100-sxm-80gb";
}

void mark_inherited(std::string& from, const std::string& device) {
  if (from.empty()) from = device;
}

}  // namespace

KernelProfile load_kernel_profile(const DataDirectory& data, const topology::Device& device) {
  const std::vector<std::string> known = data.names("workloads/kernels", ".yaml");
  if (std::find(known.begin(), known.end(), device.name) != known.end())
    return read_kernel_profile(data, device.name);
  KernelProfile profile = read_kernel_profile(data, representative(device.architecture));
  for (auto& [format, gemm] : profile.gemm) mark_inherited(gemm.inherited_from, profile.device);
  mark_inherited(profile.attention.inherited_from, profile.device);
  for (auto& [kind, streaming] : profile.streaming)
    mark_inherited(streaming.inherited_from, profile.device);
  return profile;
}

const Sourced<double>& backward_ratio(const AttentionProfile& profile, std::int64_t head_dim) {
  const auto after = profile.backward_ratio.upper_bound(head_dim);
  if (after == profile.backward_ratio.begin()) return after->second;
  return std::prev(after)->second;
}

}  // namespace stepsim::workloads
