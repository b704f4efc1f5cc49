#pragma once

/// How long a rank's kernels take, given what they cost: slower or faster on a rank that is
/// declared so, and different from one to the next where the job has noise. Every executor takes a
/// kernel's time from here.

#include "sim/job.hpp"

#include "sim/base/wide_integers.hpp"

#include <cstdint>

namespace stepsim::sim {

class KernelPace {
 public:
  KernelPace(const Job& job, Rank rank);

  /// The time of a kernel that costs `cost`, issued by op number `op` of the rank's program. Throws
  /// RangeError when that is more than 106 days.
  Time of(Time cost, std::uint32_t op) const {
    if (is_usual()) return cost;
    return with_noise(scaled_kernel_time(cost, compute_time_millionths_), op);
  }
  /// Its time without the noise.
  Time without_noise(Time cost) const { return scaled_kernel_time(cost, compute_time_millionths_); }

  /// What kernels that cost `cost` together take at the least; not rounded up.
  std::int64_t at_least(std::int64_t cost_ps) const {
    if (is_usual()) return cost_ps;
    const WideSigned even = WideSigned{cost_ps} * compute_time_millionths_ / 1'000'000;
    const WideSigned least = even * (Jitter::whole - spread_) >> 16;
    return least > INT64_MAX / 4 ? INT64_MAX / 4 : static_cast<std::int64_t>(least);
  }

  /// Whether every kernel takes what it costs.
  bool is_usual() const {
    return spread_ == 0 && compute_time_millionths_ == RankSetup::usual_compute_time;
  }

  /// The factor of an op's kernel, in 65,536ths: uniform in [65,536 − spread, 65,536 + spread].
  ///
  /// It is counted, not drawn one after the other: two multiplications of 32 by 32 bits, each
  /// folded to 32 bits by exclusive or (as the Philox generators mix, Salmon et al. 2011, with
  /// their constants), over the op's number and a key of seed and rank.
  std::uint32_t noise_65536ths(std::uint32_t op) const {
    const std::uint32_t word =
        folded(folded(op ^ first_key_, 0xd2511f53U) ^ second_key_, 0xcd9e8d57U);
    const std::uint64_t choices = 2 * std::uint64_t{spread_} + 1;
    return Jitter::whole - spread_ + static_cast<std::uint32_t>(word * choices >> 32);
  }

 private:
  static std::uint32_t folded(std::uint32_t word, std::uint32_t constant) {
    const std::uint64_t product = std::uint64_t{word} * constant;
    return static_cast<std::uint32_t>(product >> 32) ^ static_cast<std::uint32_t>(product);
  }

  Time with_noise(Time time, std::uint32_t op) const {
    if (spread_ == 0) return time;
    const WideSigned scaled =
        WideSigned{time.count_ps()} * noise_65536ths(op) + (Jitter::whole - 1);
    return checked(scaled >> 16);
  }
  static Time checked(WideSigned picoseconds) {
    if (picoseconds > INT64_MAX) throw_too_long();
    return Time::picoseconds(static_cast<std::int64_t>(picoseconds));
  }
  [[noreturn]] static void throw_too_long();

  std::uint32_t compute_time_millionths_;
  std::uint32_t spread_;
  std::uint32_t first_key_ = 0;
  std::uint32_t second_key_ = 0;
};

}  // namespace stepsim::sim
