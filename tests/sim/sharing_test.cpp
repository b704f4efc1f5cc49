// Hand-worked jobs in which kernels slow beside collectives and transfers share links.

#include "sim/attribution.hpp"
#include "sim/executor.hpp"

#include "tests/sim/job_fixture.hpp"
#include "tests/support/catch.hpp"

using namespace stepsim;
using namespace stepsim::sim;
using namespace stepsim::sim::testing;

namespace {

constexpr std::uint32_t half_speed = SpeedStep::full_speed / 2;

}  // namespace

TEST_CASE("a collective slows a kernel from its arrival to its end, waiting included") {
  // Rank 0: a kernel of 100 from 0, half as fast while 8 SMs are taken; beside it a collective,
  // issued at
  // 10. Rank 1 arrives at 30, so the collective is resident on rank 0 from 10 to 30 + 5 + 15 = 50.
  // Until then the kernel has done 10 + 40 / 2 = 30; the other 70 end at 120.
  JobFixture f;
  const CollectiveId gather = f.collective("all_gather", 5, 15);
  f.job.collective_costs[0][0].sms = 8;
  const KernelId k = f.kernel(100);
  f.job.kernels[0].sharing.by_sms_taken = {{8, half_speed}};
  const std::uint32_t c = f.communicator({Rank{0}, Rank{1}});
  for (const std::int64_t issue : {10, 30}) {
    ProgramBuilder b("p" + std::to_string(issue));
    const StreamId s = b.add_stream("default", StreamKind::compute);
    const StreamId t = b.add_stream("all_gather", StreamKind::communication);
    const SlotId slot = b.add_communicator_slot("shard");
    if (issue == 10) b.kernel(s, k, {});
    b.collective(t, slot, gather, ps(issue));
    f.rank(b, {c});
  }
  const Execution e = execute(f.job);
  CHECK(e.of_communicator(c)[0].start == ps(30));
  CHECK(e.of_communicator(c)[0].end == ps(50));
  CHECK(e.step_time == ps(120));
  CHECK(replay(f.job, e, Rank{0})[0].end == ps(120));
  // The path: the kernel's 100 are its own, the 20 that it lost are communication.
  const CriticalPath path = critical_path(f.job, e);
  CHECK(path.by_clock[static_cast<std::size_t>(Clock::compute)] == ps(100));
  CHECK(path.by_clock[static_cast<std::size_t>(Clock::communication)] == ps(20));
  CHECK(path.steps[0].sharing == ps(20));
  CHECK(path.steps[0].resident_op == std::optional<std::uint32_t>(1));
}

TEST_CASE("memory bandwidth is taken only while data moves") {
  // The kernel runs 0..; the collective arrives at 0, moves data 10..30, and takes 400 thousandths
  // then. The kernel of 50 does 10, then 20 at half speed, and the other 30 by 60.
  JobFixture f;
  const CollectiveId gather = f.collective("all_gather", 10, 20);
  f.job.collective_costs[0][0].memory_thousandths = 400;
  const KernelId k = f.kernel(50, 0, Clock::memory);
  f.job.kernels[0].sharing.by_memory_taken = {{400, half_speed}};
  ProgramBuilder b("p");
  const StreamId s = b.add_stream("default", StreamKind::compute);
  const StreamId t = b.add_stream("all_gather", StreamKind::communication);
  b.collective(t, b.add_communicator_slot("shard"), gather, {});
  b.kernel(s, k, {});
  f.rank(b, {f.communicator({Rank{0}})});
  CHECK(execute(f.job).step_time == ps(60));
}

TEST_CASE("what two collectives take adds up, and both tables multiply") {
  // Two collectives of 8 SMs each from 0 to 40: at 16 SMs a quarter of the speed, and half of that
  // for memory: the kernel does 40 / 8 = 5 until 40, the other 15 by 55.
  JobFixture f;
  const CollectiveId gather = f.collective("all_gather", 0, 40);
  f.job.collective_costs[0][0].sms = 8;
  f.job.collective_costs[0][0].memory_thousandths = 100;
  const KernelId k = f.kernel(20);
  f.job.kernels[0].sharing = {{{8, half_speed}, {16, SpeedStep::full_speed / 4}},
                              {{150, half_speed}}};
  ProgramBuilder b("p");
  const StreamId s = b.add_stream("default", StreamKind::compute);
  const StreamId t = b.add_stream("one", StreamKind::communication);
  const StreamId u = b.add_stream("two", StreamKind::communication);
  b.collective(t, b.add_communicator_slot("shard"), gather, {});
  b.collective(u, b.add_communicator_slot("replicate"), gather, {});
  b.kernel(s, k, {});
  f.rank(b, {f.communicator({Rank{0}}), f.communicator({Rank{0}})});
  CHECK(execute(f.job).step_time == ps(55));
}

TEST_CASE("transfers on one link share it while they overlap") {
  // Both transfers would take 20 at their own rate of 10 on a link of 10. The first begins at 0,
  // the second at 10: the first has 100 of 200 left, both go on at 5; it ends at 30. The second has
  // then done 100 and ends at 40.
  JobFixture f;
  const CollectiveId reduce = f.collective("all_reduce", 0, 20);
  f.job.collective_costs[0][0].rate = 10;
  f.job.links = {{"nic", 10}};
  for (const std::int64_t issue : {0, 10}) {
    ProgramBuilder b("p" + std::to_string(issue));
    const StreamId s = b.add_stream("nccl", StreamKind::communication);
    b.collective(s, b.add_communicator_slot("replicate"), reduce, ps(issue));
    const Rank self{static_cast<std::uint32_t>(f.job.ranks.size())};
    const std::uint32_t c = f.communicator({self}, "replicate");
    f.job.communicators[c].links = {{LinkId{0}, 1}};
    f.rank(b, {c});
  }
  const Execution e = execute(f.job);
  CHECK(e.rank_end == std::vector<Time>{ps(30), ps(40)});
  // The path is the second transfer, 30 long: 20 by itself and 10 by sharing.
  const CriticalPath path = critical_path(f.job, e);
  CHECK(path.steps[0].sharing == ps(10));
  CHECK(path.steps[0].slowest_link == std::optional<LinkId>(LinkId{0}));
  CHECK(path.by_clock[static_cast<std::size_t>(Clock::communication)] == ps(30));
}

TEST_CASE("a transfer whose collective takes no SMs, as of a copy engine, slows no kernel by SMs") {
  JobFixture f;
  const CollectiveId copy = f.collective("send", 0, 20, "offload");
  const KernelId k = f.kernel(20);
  f.job.kernels[0].sharing.by_sms_taken = {{1, half_speed}};
  ProgramBuilder b("p");
  const StreamId s = b.add_stream("default", StreamKind::compute);
  const StreamId t = b.add_stream("copy", StreamKind::copy);
  b.collective(t, b.add_communicator_slot("offload"), copy, {});
  b.kernel(s, k, {});
  f.rank(b, {f.communicator({Rank{0}}, "offload")});
  CHECK(execute(f.job).step_time == ps(20));
}
