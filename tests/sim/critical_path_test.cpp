#include "sim/attribution.hpp"

#include "tests/sim/job_fixture.hpp"
#include "tests/support/catch.hpp"

using namespace stepsim;
using namespace stepsim::sim;
using namespace stepsim::sim::testing;

namespace {

Time of(const CriticalPath& path, Clock clock) {
  return path.by_clock[static_cast<std::size_t>(clock)];
}

}  // namespace

TEST_CASE("the path splits each op into overhead and its own clock") {
  // Issue 2, a kernel of 10 (3 fixed, memory), then a kernel of 20 (compute) right behind it.
  JobFixture f;
  const KernelId copy = f.kernel(10, 3, Clock::memory);
  const KernelId gemm = f.kernel(20, 0, Clock::compute);
  ProgramBuilder b("p");
  const StreamId s = b.add_stream("default", StreamKind::compute);
  b.kernel(s, copy, ps(2));  // 2..12
  b.kernel(s, gemm, ps(2));  // 12..32
  f.rank(b);
  const CriticalPath path = critical_path(f.job, execute(f.job));
  CHECK(of(path, Clock::overhead) == ps(2 + 3));
  CHECK(of(path, Clock::memory) == ps(7));
  CHECK(of(path, Clock::compute) == ps(20));
  CHECK(of(path, Clock::communication) == ps(0));
  REQUIRE(path.steps.size() == 3);
  CHECK(path.steps[0].op == 1);
  CHECK(path.steps[0].begin == ps(12));
  CHECK(path.steps[2].end == ps(2));
}

TEST_CASE("the path follows the last member of a collective, not the waiting") {
  // Rank 0 is ready at 10, rank 1 at 30. The gather is 30..37, then both run 5: the path is rank
  // 0's kernel, the gather (2 latency, 5 transfer), rank 1's 30.
  JobFixture f;
  const CollectiveId gather = f.collective("all_gather", 2, 5);
  const std::uint32_t c = f.communicator({Rank{0}, Rank{1}});
  const KernelId last = f.kernel(5);
  for (const std::int64_t time : {10, 30}) {
    ProgramBuilder b("p" + std::to_string(time));
    const StreamId s = b.add_stream("default", StreamKind::compute);
    const SlotId slot = b.add_communicator_slot("shard");
    b.kernel(s, f.kernel(time), {});
    b.collective(s, slot, gather, {});
    b.kernel(s, last, {});
    f.rank(b, {c});
  }
  const CriticalPath path = critical_path(f.job, execute(f.job));
  CHECK(of(path, Clock::compute) == ps(35));
  CHECK(of(path, Clock::communication) == ps(5));
  CHECK(of(path, Clock::overhead) == ps(2));
  REQUIRE(path.steps.size() == 3);
  CHECK(path.steps[0].rank == Rank{0});
  CHECK(path.steps[2].rank == Rank{1});
  CHECK(path.steps[2].begin == ps(0));
}

TEST_CASE("what a slow rank adds stays on its kernel's clock and is told apart") {
  // 10 ps of which 4 are fixed, at 1.5: 15 ps, 4 overhead and 11 compute, 5 of them the slow
  // rank's.
  JobFixture f;
  ProgramBuilder b("p");
  b.kernel(b.add_stream("default", StreamKind::compute), f.kernel(10, 4), {});
  f.rank(b);
  f.job.ranks[0].compute_time_millionths = 1'500'000;
  const CriticalPath path = critical_path(f.job, execute(f.job));
  CHECK(of(path, Clock::overhead) == ps(4));
  CHECK(of(path, Clock::compute) == ps(11));
  REQUIRE(path.steps.size() == 1);
  CHECK(path.steps[0].slow_rank == ps(5));
}

TEST_CASE("what a slow link adds to a transfer stays communication and is told apart") {
  JobFixture f;
  const CollectiveId gather = f.collective("all_gather", 2, 9);
  f.job.collective_costs[0][0].slow_part = ps(4);
  const std::uint32_t c = f.communicator({Rank{0}, Rank{1}});
  for (int rank = 0; rank < 2; ++rank) {
    ProgramBuilder b("p");
    b.collective(b.add_stream("gather", StreamKind::communication),
                 b.add_communicator_slot("shard"), gather, {});
    f.rank(b, {c});
  }
  const CriticalPath path = critical_path(f.job, execute(f.job));
  CHECK(of(path, Clock::overhead) == ps(2));
  CHECK(of(path, Clock::communication) == ps(9));
  REQUIRE(path.steps.size() == 1);
  CHECK(path.steps[0].slow_link == ps(4));
}

TEST_CASE("a step bound by launches is overhead") {
  JobFixture f;
  const KernelId tiny = f.kernel(1);
  ProgramBuilder b("p");
  const StreamId s = b.add_stream("default", StreamKind::compute);
  for (int i = 0; i < 10; ++i) b.kernel(s, tiny, ps(5));
  f.rank(b);
  const CriticalPath path = critical_path(f.job, execute(f.job));
  CHECK(of(path, Clock::overhead) == ps(50));
  CHECK(of(path, Clock::compute) == ps(1));
}

TEST_CASE("the path leaves the host where a sync stopped it") {
  JobFixture f;
  const KernelId k = f.kernel(10);
  ProgramBuilder b("p");
  const StreamId s = b.add_stream("default", StreamKind::compute);
  b.kernel(s, k, ps(1));  // 1..11
  b.host_sync_stream(s);
  b.kernel(s, k, ps(4));  // issued 15, 15..25
  f.rank(b);
  const CriticalPath path = critical_path(f.job, execute(f.job));
  CHECK(of(path, Clock::overhead) == ps(5));
  CHECK(of(path, Clock::compute) == ps(20));
}

TEST_CASE("an empty job has an empty path") {
  JobFixture f;
  ProgramBuilder b("p");
  f.rank(b);
  CHECK(critical_path(f.job, execute(f.job)).steps.empty());
  CHECK(critical_path(Job{}, execute(Job{})).steps.empty());
}
