#pragma once

/// What is left of the speed of each kernel of a job while so much of a device is taken.

#include "sim/job.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace stepsim::sim {

class KernelSpeeds {
 public:
  /// The job must outlive the object.
  explicit KernelSpeeds(const Job& job) : job_(job) {}

  /// The speeds, by KernelId, in units of 1/SpeedStep::full_speed, at least 1. They stay where they
  /// are.
  const std::uint32_t* while_taken(std::uint32_t sms, std::uint32_t memory_thousandths) {
    Recent& recent = recent_[(sms ^ (memory_thousandths << 2)) % recent_.size()];
    if (recent.speeds == nullptr || recent.sms != sms ||
        recent.memory_thousandths != memory_thousandths) {
      recent = {sms, memory_thousandths, find(sms, memory_thousandths)};
    }
    return recent.speeds;
  }

 private:
  struct Recent {
    std::uint32_t sms = 0;
    std::uint32_t memory_thousandths = 0;
    const std::uint32_t* speeds = nullptr;
  };

  const std::uint32_t* find(std::uint32_t sms, std::uint32_t memory_thousandths);

  const Job& job_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> speeds_;
  std::array<Recent, 256> recent_{};
};

}  // namespace stepsim::sim
