// Properties that hold for every job, checked on random ones.

#include "sim/executor.hpp"

#include "tests/sim/oracle_comparison.hpp"
#include "tests/sim/random_job.hpp"
#include "tests/support/catch.hpp"

using namespace stepsim;
using namespace stepsim::sim;
using namespace stepsim::sim::testing;

namespace {

std::optional<Execution> execute_unless_stuck(const Job& job) {
  try {
    return execute(job);
  } catch (const DeadlockError&) {
    return std::nullopt;
  }
}

}  // namespace

TEST_CASE("executor and replay agree with the oracle on random jobs") {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const Job job = random_job(seed, {});
    const auto oracle = oracle_execute(job);
    const auto execution = execute_unless_stuck(job);
    INFO("seed " << seed);
    REQUIRE(oracle.has_value());  // every member issues its meetings in one global order
    REQUIRE(execution.has_value());
    REQUIRE(same_times(job, *execution, *oracle));
  }
}

TEST_CASE("executor and oracle agree about what is stuck and what only looks so") {
  int stuck = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const Job job = random_job(seed, {.shuffle_meetings = true});
    const auto oracle = oracle_execute(job);
    const auto execution = execute_unless_stuck(job);
    INFO("seed " << seed);
    REQUIRE(oracle.has_value() == execution.has_value());
    if (execution) REQUIRE(same_times(job, *execution, *oracle));
    stuck += execution ? 0 : 1;
  }
  CHECK(stuck > 20);  // the generator must reach both cases
  CHECK(stuck < 2000);
}

TEST_CASE("ranks that share a program agree with the oracle") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Job job = random_grid_job(seed);
    const auto oracle = oracle_execute(job);
    const auto execution = execute_unless_stuck(job);
    INFO("seed " << seed);
    REQUIRE(oracle.has_value() == execution.has_value());
    if (execution) REQUIRE(same_times(job, *execution, *oracle));
  }
}

TEST_CASE("executor and replay agree with the oracle where resources are shared") {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Job job = random_job(seed, {.shuffle_meetings = seed % 2 == 1});
    Random random(seed);
    add_sharing(job, random, random.between(1, 3), random.below(2));
    const auto oracle = oracle_execute(job);
    const auto execution = execute_unless_stuck(job);
    INFO("seed " << seed);
    REQUIRE(oracle.has_value() == execution.has_value());
    if (execution) REQUIRE(same_times(job, *execution, *oracle));
  }
}

TEST_CASE("executor and replay agree with the oracle where kernels have noise") {
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    Random random(seed);
    Job job = seed % 3 == 0 ? random_grid_job(seed) : random_job(seed, {});
    job.jitter = {seed, random.between(1, Jitter::whole - 1)};
    if (random.one_in(2)) job.ranks[0].compute_time_millionths = random.between(700'000, 1'500'000);
    if (random.one_in(2)) add_sharing(job, random, random.between(1, 3), random.below(2));
    const auto oracle = oracle_execute(job);
    const auto execution = execute_unless_stuck(job);
    INFO("seed " << seed);
    REQUIRE(oracle.has_value() == execution.has_value());
    if (execution) REQUIRE(same_times(job, *execution, *oracle));
  }
}

TEST_CASE("resources that nothing slows give the times of the plain executor") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Job job = random_job(seed, {});
    const Execution plain = execute(job);
    Random random(seed);
    add_sharing(job, random, 2, 0);
    for (KernelCost& kernel : job.kernels) kernel.sharing = {};
    for (Link& link : job.links) link.capacity = 1'000'000;
    INFO("seed " << seed);
    const Execution sharing = execute(job);
    REQUIRE(plain.rank_end == sharing.rank_end);
    REQUIRE(plain.meetings.size() == sharing.meetings.size());
    for (std::size_t i = 0; i < plain.meetings.size(); ++i) {
      for (std::size_t k = 0; k < plain.meetings[i].size(); ++k) {
        REQUIRE(plain.meetings[i][k].end == sharing.meetings[i][k].end);
        REQUIRE(plain.meetings[i][k].last_to_arrive == sharing.meetings[i][k].last_to_arrive);
      }
    }
  }
}
