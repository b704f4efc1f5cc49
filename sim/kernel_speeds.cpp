#include "sim/kernel_speeds.hpp"

#include <algorithm>

namespace stepsim::sim {

namespace {

std::uint64_t speed_at(const std::vector<SpeedStep>& steps, std::uint32_t taken) {
  std::uint32_t speed = SpeedStep::full_speed;
  for (const SpeedStep& step : steps) {
    if (step.taken > taken) break;
    speed = step.speed;
  }
  return speed;
}

}  // namespace

const std::uint32_t* KernelSpeeds::find(std::uint32_t sms, std::uint32_t memory_thousandths) {
  const auto [row, is_new] = speeds_.try_emplace({sms, memory_thousandths});
  if (is_new) {
    row->second.reserve(job_.kernels.size() + 1);
    for (const KernelCost& kernel : job_.kernels) {
      const std::uint64_t product = speed_at(kernel.sharing.by_sms_taken, sms) *
                                    speed_at(kernel.sharing.by_memory_taken, memory_thousandths);
      row->second.push_back(
          static_cast<std::uint32_t>(std::max<std::uint64_t>(1, product / SpeedStep::full_speed)));
    }
  }
  return row->second.data();
}

}  // namespace stepsim::sim
