// Folded and unfolded execution give the same bits for every rank. STEPSIM_FOLDING_CASES in the
// environment asks for more cases than the usual number.

#include "sim/attribution.hpp"
#include "sim/executor.hpp"
#include "sim/program_builder.hpp"

#include "tests/sim/oracle_comparison.hpp"
#include "tests/sim/random_cluster.hpp"
#include "tests/sim/random_job.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

using namespace stepsim;
using namespace stepsim::sim;
using namespace stepsim::sim::testing;

namespace {

std::uint64_t case_count() {
  const char* const asked = std::getenv("STEPSIM_FOLDING_CASES");
  return asked == nullptr ? 1000 : std::strtoull(asked, nullptr, 10);
}

bool same(const OpTimes& a, const OpTimes& b) {
  return a.issued == b.issued && a.arrival == b.arrival && a.start == b.start && a.end == b.end &&
         a.cause == b.cause && a.predecessor == b.predecessor;
}

void require_same_path(const CriticalPath& a, const CriticalPath& b) {
  REQUIRE(a.by_clock == b.by_clock);
  REQUIRE(a.steps.size() == b.steps.size());
  for (std::size_t i = 0; i < a.steps.size(); ++i) {
    REQUIRE(a.steps[i].rank == b.steps[i].rank);
    REQUIRE(a.steps[i].op == b.steps[i].op);
    REQUIRE(a.steps[i].begin == b.steps[i].begin);
    REQUIRE(a.steps[i].by_clock == b.steps[i].by_clock);
    REQUIRE(a.steps[i].slow_rank == b.steps[i].slow_rank);
    REQUIRE(a.steps[i].slow_link == b.steps[i].slow_link);
    REQUIRE(a.steps[i].sharing == b.steps[i].sharing);
    REQUIRE(a.steps[i].resident_op == b.steps[i].resident_op);
    REQUIRE(a.steps[i].slowest_link == b.steps[i].slowest_link);
  }
}

void require_same_line(const TimeLine& a, const TimeLine& b) {
  REQUIRE(a.compute == b.compute);
  REQUIRE(a.bubble == b.bubble);
  REQUIRE(a.exposed == b.exposed);
  REQUIRE(a.idle_by_cause == b.idle_by_cause);
  REQUIRE(a.overlapped == b.overlapped);
  REQUIRE(a.communication.size() == b.communication.size());
  for (std::size_t i = 0; i < a.communication.size(); ++i) {
    REQUIRE(a.communication[i].exposed == b.communication[i].exposed);
    REQUIRE(a.communication[i].busy == b.communication[i].busy);
  }
}

/// Compares everything about every rank. Returns whether the job was really folded.
bool require_folding_exact(const Job& job) {
  const Execution folded = execute(job);
  const Execution unfolded = execute(job, {.folding = Folding::off});
  REQUIRE(unfolded.simulated_ranks == job.ranks.size());
  REQUIRE(folded.step_time == unfolded.step_time);
  REQUIRE(folded.rank_end == unfolded.rank_end);
  for (std::uint32_t r = 0; r < job.ranks.size(); ++r) {
    const auto a = replay(job, folded, Rank{r});
    const auto b = replay(job, unfolded, Rank{r});
    REQUIRE(std::equal(a.begin(), a.end(), b.begin(), b.end(), same));
  }
  require_same_path(critical_path(job, folded), critical_path(job, unfolded));
  require_same_line(mean_time_line(job, folded), mean_time_line(job, unfolded));
  return folded.simulated_ranks < job.ranks.size();
}

}  // namespace

TEST_CASE("folding changes no bit of any rank on random clusters") {
  std::uint64_t really_folded = 0;
  for (std::uint64_t seed = 0; seed < case_count(); ++seed) {
    INFO("seed " << seed);
    if (require_folding_exact(random_cluster_job(seed))) ++really_folded;
  }
  CHECK(really_folded > case_count() / 3);
}

TEST_CASE("folding changes no bit where kernels and transfers slow each other") {
  std::uint64_t really_folded = 0;
  for (std::uint64_t seed = 0; seed < case_count(); ++seed) {
    INFO("seed " << seed);
    if (require_folding_exact(random_sharing_cluster_job(seed))) ++really_folded;
  }
  CHECK(really_folded > case_count() / 4);
}

TEST_CASE("folding changes no bit on jobs that share nothing, or everything") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    require_folding_exact(random_job(seed, {}));
  }
}

TEST_CASE("a folded cluster agrees with the oracle") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    for (const Job& job : {random_cluster_job(seed), random_sharing_cluster_job(seed)}) {
      const auto oracle = oracle_execute(job);
      REQUIRE(oracle.has_value());
      REQUIRE(same_times(job, execute(job), *oracle));
    }
  }
}

TEST_CASE("a stuck job is explained by its ranks, folded or not") {
  // All ranks wait for a message of their neighbour before they send their own.
  Job job;
  job.collectives = {{"send", "context", Bytes(1)}};
  job.collective_costs = {{{Time::zero(), Time::picoseconds(1), "", false}}};
  ProgramBuilder b("ring");
  const StreamId s = b.add_stream("p2p", StreamKind::communication);
  const SlotId next = b.add_channel_slot("context");
  const SlotId before = b.add_channel_slot("context");
  b.receive(s, before, CollectiveId{0}, {});
  b.send(s, next, CollectiveId{0}, {});
  job.programs.push_back(b.finish());
  for (std::uint32_t r = 0; r < 3; ++r) {
    job.channels.push_back({"context", Rank{r}, Rank{(r + 1) % 3}, 0});
    job.ranks.push_back({ProgramId{0}, {r, (r + 2) % 3}});
  }
  for (const Folding folding : {Folding::where_it_pays, Folding::off}) {
    try {
      execute(job, {.folding = folding});
      FAIL("not stuck");
    } catch (const DeadlockError& error) {
      CHECK(std::string(error.what()).find("rank 2 (program «ring»), op 0") != std::string::npos);
    }
  }
}
