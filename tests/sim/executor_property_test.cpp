// Properties that hold for every job, checked on random ones.

#include "sim/executor.hpp"

#include "tests/sim/oracle_executor.hpp"
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

/// Whether replayed times equal the oracle's, op by op.
bool same_times(const Job& job, const Execution& execution, const OracleResult& oracle) {
  if (execution.rank_end != oracle.rank_end) return false;
  for (std::uint32_t r = 0; r < job.ranks.size(); ++r) {
    const auto times = replay(job, execution, Rank{r});
    const Program& program = job.programs[job.ranks[r].program.index()];
    for (std::size_t i = 0; i < times.size(); ++i) {
      const OpKind kind = program.ops[i].kind;
      const bool runs = kind == OpKind::kernel || is_coupling_op(kind);
      if (runs && times[i].start != oracle.ops[r][i].start) return false;
      if ((runs || kind == OpKind::host_sync) && times[i].end != oracle.ops[r][i].end) return false;
    }
  }
  return true;
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
