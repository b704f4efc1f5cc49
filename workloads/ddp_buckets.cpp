#include "workloads/ddp_buckets.hpp"

#include <algorithm>

namespace stepsim::workloads {
namespace {

constexpr std::int64_t first_bucket_bytes = 1 << 20;           // dist._DEFAULT_FIRST_BUCKET_BYTES
constexpr std::int64_t default_bucket_bytes = 25 * (1 << 20);  // bucket_cap_mb

std::vector<ParameterGradient> in_backward_order(const ModuleWork& work) {
  std::vector<ParameterGradient> gradients = work.parameter_gradients;
  std::stable_sort(gradients.begin(), gradients.end(),
                   [](const ParameterGradient& a, const ParameterGradient& b) {
                     return a.written_by < b.written_by;
                   });
  return gradients;
}

}  // namespace

std::vector<std::uint32_t> gradient_ready_order(const StepWork& work) {
  std::vector<std::uint32_t> order;
  std::vector<bool> seen(work.parameters.size(), false);
  // From the end of backward: a parameter with several writers is ready after the last of them.
  for (const Module& module : work.modules) {
    const std::vector<ParameterGradient> gradients = in_backward_order(work.kinds[module.work]);
    for (auto it = gradients.rbegin(); it != gradients.rend(); ++it) {
      const std::uint32_t parameter = module.parameters[it->parameter];
      if (!seen[parameter]) order.push_back(parameter);
      seen[parameter] = true;
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

std::vector<DdpBucket> ddp_buckets(const StepWork& work, const Plan& plan,
                                   const Training& training) {
  const std::int64_t element_bytes = bytes_of(training.parameter_precision);
  std::vector<DdpBucket> buckets;
  bool is_open = false;
  for (const std::uint32_t parameter : gradient_ready_order(work)) {
    if (!is_open) buckets.emplace_back();
    DdpBucket& bucket = buckets.back();
    bucket.parameters.push_back(parameter);
    bucket.elements += work.parameters[parameter].count();
    const std::int64_t limit = plan.bucket_bytes     ? *plan.bucket_bytes
                               : buckets.size() == 1 ? first_bucket_bytes
                                                     : default_bucket_bytes;
    is_open = bucket.elements * element_bytes < limit;
  }
  return buckets;
}

}  // namespace stepsim::workloads
