#include "scenarios/noise.hpp"

#include "scenarios/counted_random.hpp"
#include "scenarios/parallel.hpp"
#include "scenarios/resolve_scenario.hpp"

#include "sim/base/error.hpp"
#include "sim/base/wide_integers.hpp"

#include <algorithm>
#include <cstddef>

namespace stepsim::scenarios {

namespace {

constexpr std::int64_t one_millionths = 1'000'000;
/// Apart from what other places draw of the same seed.
constexpr std::uint64_t pace_sequence = 0x70616365;  // «pace»

/// The smallest value that at least `tenths` tenths of the sorted ones do not exceed.
Time nearest_rank(const std::vector<Time>& sorted, std::size_t tenths) {
  return sorted[(sorted.size() * tenths + 9) / 10 - 1];
}

}  // namespace

StepDistribution distribution_of(const std::vector<Time>& times, std::uint64_t first_seed) {
  if (times.empty()) throw InternalError("a distribution of no steps");
  std::vector<Time> sorted = times;
  std::sort(sorted.begin(), sorted.end());
  WideSigned sum = 0;
  for (const Time time : times) sum += time.count_ps();
  StepDistribution steps;
  steps.seeds = static_cast<int>(times.size());
  steps.first_seed = first_seed;
  steps.mean = Time::picoseconds(static_cast<std::int64_t>(sum / steps.seeds));
  steps.least = sorted.front();
  steps.p10 = nearest_rank(sorted, 1);
  steps.p50 = nearest_rank(sorted, 5);
  steps.p90 = nearest_rank(sorted, 9);
  steps.most = sorted.back();
  const auto median = std::find(times.begin(), times.end(), steps.p50);
  steps.median_seed = first_seed + static_cast<std::uint64_t>(median - times.begin());
  return steps;
}

std::uint32_t noisy_pace_millionths(std::uint64_t seed, std::uint32_t rank,
                                    std::uint32_t deviation_millionths) {
  constexpr int words = 3;
  constexpr std::int64_t one = 65'536;
  constexpr std::int64_t mean = 12 * (one - 1) / 2;
  std::int64_t sum = 0;  // of twelve numbers below 65,536: its deviation is 65,536
  for (std::uint64_t i = 0; i < words; ++i) {
    const std::uint64_t word = random_word(seed, pace_sequence, std::uint64_t{rank} * words + i);
    for (int part = 0; part < 4; ++part)
      sum += static_cast<std::int64_t>(word >> (16 * part) & 0xffff);
  }
  const std::int64_t away = (sum - mean) * std::int64_t{deviation_millionths} / one;
  return static_cast<std::uint32_t>(one_millionths + away);
}

void apply_noise(const NoiseSpec& noise, std::uint64_t seed, sim::Job& job) {
  constexpr double whole = sim::Jitter::whole;
  job.jitter.seed = seed;
  job.jitter.spread_65536ths = static_cast<std::uint32_t>(noise.kernel.value_or(0) * whole + 0.5);
  const auto deviation =
      static_cast<std::uint32_t>(noise.step.value_or(0) * double{one_millionths} + 0.5);
  if (deviation == 0) return;
  for (std::uint32_t rank = 0; rank < job.ranks.size(); ++rank) {
    std::uint32_t& pace = job.ranks[rank].compute_time_millionths;
    pace = static_cast<std::uint32_t>(
        std::uint64_t{pace} * noisy_pace_millionths(seed, rank, deviation) / one_millionths);
  }
}

StepDistribution step_distribution(const NoiseSpec& noise, const sim::Job& job,
                                   const sim::ExecutionOptions& options, int threads) {
  std::vector<Time> times(static_cast<std::size_t>(*noise.seeds));
  const auto first = static_cast<std::uint64_t>(*noise.seed);
  for_each_index(times.size(), threads, [&](std::size_t i) {
    sim::Job noisy = job;
    apply_noise(noise, first + i, noisy);
    times[i] = sim::execute(noisy, options).step_time;
  });
  return distribution_of(times, first);
}

bool resolve_noise(const ClusterSpec& spec, KeyProblems& problems, Scenario& scenario) {
  if (!spec.noise) return true;
  if (!spec.noise->readable) return false;
  NoiseSpec noise = *spec.noise;
  if (!noise.kernel && !noise.step) {
    problems.refuse("cluster.noise", "does not say what varies", "a key kernel or step");
    return false;
  }
  if (!noise.seed) noise.seed = 0;
  if (!noise.seeds) noise.seeds = usual_noise_seeds;
  scenario.noise = noise;
  return true;
}

}  // namespace stepsim::scenarios
