#pragma once

/// Random jobs for property tests: small, full of ties, coupled in odd ways.

#include "sim/job.hpp"

#include <cstdint>
#include <random>

namespace stepsim::sim::testing {

/// Random numbers that are the same with every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// Uniform in [0, bound).
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>((engine_() >> 32) * bound >> 32);
  }
  std::uint32_t between(std::uint32_t low, std::uint32_t high) {
    return low + below(high - low + 1);
  }
  bool one_in(std::uint32_t n) { return below(n) == 0; }

 private:
  std::mt19937_64 engine_;
};

struct RandomJobOptions {
  /// Exchange neighbouring meetings of a rank now and then: some such jobs only look stuck, some
  /// are.
  bool shuffle_meetings = false;
};

/// One to six ranks, each with a program of its own, that meet on random communicators and
/// channels.
Job random_job(std::uint64_t seed, const RandomJobOptions& options);

/// A grid of ranks that all run one program, with a communicator for each row and each column.
Job random_grid_job(std::uint64_t seed);

/// Gives kernels speed tables, collectives SMs, memory bandwidth and rates, and the job links;
/// every communicator and channel crosses the links of its members, `ranks_per_link` of which share
/// one (shifted by `shift`).
void add_sharing(Job& job, Random& random, std::uint32_t ranks_per_link, std::uint32_t shift);

}  // namespace stepsim::sim::testing
