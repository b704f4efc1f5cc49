#include "sim/kernel_pace.hpp"

#include "sim/base/error.hpp"

namespace stepsim::sim {

namespace {

/// A bijection of 64-bit words that spreads every bit (splitmix64).
std::uint64_t mixed(std::uint64_t word) {
  word += 0x9e3779b97f4a7c15U;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
  return word ^ (word >> 31);
}

}  // namespace

KernelPace::KernelPace(const Job& job, Rank rank)
    : compute_time_millionths_(job.ranks[rank.index()].compute_time_millionths),
      spread_(job.jitter.spread_65536ths) {
  if (spread_ == 0) return;
  const std::uint64_t key = mixed(mixed(job.jitter.seed) + rank.value);
  first_key_ = static_cast<std::uint32_t>(key);
  second_key_ = static_cast<std::uint32_t>(key >> 32);
}

void KernelPace::throw_too_long() {
  throw RangeError("a kernel with noise takes more than 106 days");
}

}  // namespace stepsim::sim
