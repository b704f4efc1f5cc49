#pragma once

/// Steps of a cluster whose kernels and ranks are not equally fast every time: what the scenario
/// declares as `cluster.noise`, and the distribution of step times over seeds.
///
/// Kernel noise is the engine's (sim::Jitter). Step noise is a pace of each rank for a whole step:
/// normal around 1, from sums of twelve uniform numbers (within six deviations), in integers.

#include "scenarios/scenario.hpp"

#include "sim/executor.hpp"
#include "sim/job.hpp"

#include "sim/base/units.hpp"

#include <cstdint>
#include <vector>

namespace stepsim::scenarios {

/// Steps of several seeds.
struct StepDistribution {
  int seeds = 0;
  std::uint64_t first_seed = 0;
  Time mean;  // rounded down to a picosecond
  Time least;
  Time p10;  // the nearest rank: the smallest that at least a tenth of the steps do not exceed
  Time p50;
  Time p90;
  Time most;
  std::uint64_t median_seed = 0;  // the lowest whose step takes p50
};

/// The distribution of times[i] of the seeds first_seed + i.
StepDistribution distribution_of(const std::vector<Time>& times, std::uint64_t first_seed);

/// A rank's pace in a step of a seed, in millionths of the time its kernels take usually: normal
/// with the given deviation.
std::uint32_t noisy_pace_millionths(std::uint64_t seed, std::uint32_t rank,
                                    std::uint32_t deviation_millionths);

/// Gives the job the noise of a seed. Paces multiply with declared slow parts, so those come first,
/// and a job takes noise once.
void apply_noise(const NoiseSpec& noise, std::uint64_t seed, sim::Job& job);

/// Executes the job, which has none yet, once for every seed of the noise.
StepDistribution step_distribution(const NoiseSpec& noise, const sim::Job& job,
                                   const sim::ExecutionOptions& options, int threads);

}  // namespace stepsim::scenarios
