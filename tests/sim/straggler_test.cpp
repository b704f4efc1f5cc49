// One slow rank, wherever it is.

#include "sim/attribution.hpp"
#include "sim/executor.hpp"

#include "tests/sim/random_cluster.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>

using namespace stepsim;
using namespace stepsim::sim;
using namespace stepsim::sim::testing;

namespace {

constexpr std::uint32_t usual = RankSetup::usual_compute_time;

bool names(const CriticalPath& path, Rank rank) {
  return std::any_of(path.steps.begin(), path.steps.end(), [&](const PathStep& step) {
    return step.rank == rank && step.slow_rank > Time::zero();
  });
}

}  // namespace

TEST_CASE("without sharing a slow rank never makes a step shorter, and is named when longer") {
  int longer = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Job job = random_cluster_job(seed);
    for (RankSetup& rank : job.ranks) rank.compute_time_millionths = usual;
    const Time healthy = execute(job).step_time;
    for (std::uint32_t rank = 0; rank < job.ranks.size(); ++rank) {
      INFO("seed " << seed << ", rank " << rank);
      job.ranks[rank].compute_time_millionths = 1'500'000;
      const Execution execution = execute(job);
      REQUIRE(execution.step_time >= healthy);
      if (execution.step_time > healthy) {
        ++longer;
        REQUIRE(names(critical_path(job, execution), Rank{rank}));
      }
      job.ranks[rank].compute_time_millionths = usual;
    }
  }
  CHECK(longer > 200);
}
