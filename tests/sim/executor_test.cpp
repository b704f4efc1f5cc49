#include "sim/executor.hpp"

#include "sim/base/error.hpp"

#include "tests/sim/job_fixture.hpp"
#include "tests/support/catch.hpp"

using namespace stepsim;
using namespace stepsim::sim;
using namespace stepsim::sim::testing;

TEST_CASE("a kernel starts when the host has issued it and its stream is free") {
  JobFixture f;
  const KernelId k10 = f.kernel(10);
  ProgramBuilder b("p");
  const StreamId s = b.add_stream("default", StreamKind::compute);
  b.kernel(s, k10, ps(3));  // issued 3, runs 3..13
  b.kernel(s, k10, ps(3));  // issued 6, runs 13..23
  b.host_work(ps(30));      // host at 36
  b.kernel(s, k10, ps(3));  // issued 39, runs 39..49
  const Rank r = f.rank(b);
  const Execution e = execute(f.job);
  CHECK(e.step_time == ps(49));
  CHECK(e.op_count == 4);
  const auto times = replay(f.job, e, r);
  CHECK(times[0].start == ps(3));
  CHECK(times[0].cause == ArrivalCause::host);
  CHECK(times[1].start == ps(13));
  CHECK(times[1].cause == ArrivalCause::stream);
  CHECK(times[1].predecessor == std::optional<std::uint32_t>(0));
  CHECK(times[3].start == ps(39));
  CHECK(times[3].cause == ArrivalCause::host);
}

TEST_CASE("streams overlap, and an event orders ops of two streams") {
  JobFixture f;
  const KernelId k10 = f.kernel(10);
  const KernelId k4 = f.kernel(4);
  ProgramBuilder b("p");
  const StreamId s = b.add_stream("default", StreamKind::compute);
  const StreamId t = b.add_stream("copy", StreamKind::copy);
  const EventId done = b.add_event();
  b.wait(s, done);       // before any record: no effect
  b.kernel(t, k10, {});  // 0..10
  b.record(done, t);
  b.kernel(t, k10, {});  // 10..20: not part of the event
  b.kernel(s, k4, {});   // 0..4 beside it
  b.wait(s, done);
  b.kernel(s, k4, {});  // 10..14
  const Rank r = f.rank(b);
  const Execution e = execute(f.job);
  CHECK(e.step_time == ps(20));
  const auto times = replay(f.job, e, r);
  CHECK(times[4].start == ps(0));
  CHECK(times[6].start == ps(10));
  CHECK(times[6].cause == ArrivalCause::event);
  CHECK(times[6].predecessor == std::optional<std::uint32_t>(1));
}

TEST_CASE("host syncs stop the host until an event or a stream is done") {
  JobFixture f;
  const KernelId k10 = f.kernel(10);
  ProgramBuilder b("p");
  const StreamId s = b.add_stream("default", StreamKind::compute);
  const EventId done = b.add_event();
  b.kernel(s, k10, ps(1));  // 1..11
  b.record(done, s);
  b.kernel(s, k10, ps(1));  // 11..21
  b.host_sync(done);        // host at 11
  b.kernel(s, k10, ps(1));  // issued 12, runs 21..31
  b.host_sync_stream(s);    // host at 31
  b.kernel(s, k10, ps(1));  // issued 32, runs 32..42
  const Rank r = f.rank(b);
  const Execution e = execute(f.job);
  CHECK(e.step_time == ps(42));
  const auto times = replay(f.job, e, r);
  CHECK(times[3].end == ps(11));
  CHECK(times[4].issued == ps(12));
  CHECK(times[5].end == ps(31));
  CHECK(times[6].start == ps(32));
}

TEST_CASE("a collective starts with its last member and ends for all at once") {
  JobFixture f;
  const CollectiveId gather = f.collective("all_gather", 2, 5);
  const std::uint32_t c = f.communicator({Rank{0}, Rank{1}, Rank{2}});
  // Arrivals at 10, 30 and 30: ranks 1 and 2 arrive last, the lower one is named; 30..37.
  for (const std::int64_t time : {10, 30, 30}) {
    ProgramBuilder b("p" + std::to_string(time));
    const StreamId s = b.add_stream("default", StreamKind::compute);
    const SlotId slot = b.add_communicator_slot("shard");
    b.kernel(s, f.kernel(time), {});
    b.collective(s, slot, gather, {});
    f.rank(b, {c});
  }
  const Execution e = execute(f.job);
  REQUIRE(e.of_communicator(c).size() == 1);
  CHECK(e.of_communicator(c)[0].start == ps(30));
  CHECK(e.of_communicator(c)[0].end == ps(37));
  CHECK(e.of_communicator(c)[0].last_to_arrive == ClassId{1});
  const auto times = replay(f.job, e, Rank{0});
  CHECK(times[1].arrival == ps(10));
  CHECK(times[1].start == ps(30));
  CHECK(times[1].end == ps(37));
}

TEST_CASE("collectives of one communicator run one at a time whatever their streams") {
  JobFixture f;
  const CollectiveId gather = f.collective("all_gather", 0, 10);
  ProgramBuilder b("p");
  const StreamId s = b.add_stream("all_gather", StreamKind::communication);
  const StreamId t = b.add_stream("reduce_scatter", StreamKind::communication);
  const SlotId one = b.add_communicator_slot("shard");
  const SlotId two = b.add_communicator_slot("replicate");
  b.collective(s, one, gather, {});  // 0..10
  b.collective(t, one, gather, {});  // 10..20: same communicator
  b.collective(s, two, gather, {});  // 10..20: another communicator, behind the first on its stream
  const ProgramId program = f.program(b);
  const std::uint32_t shard = f.communicator({Rank{0}, Rank{1}});
  f.rank(program, {shard, f.communicator({Rank{0}})});  // a communicator of one completes alone
  f.rank(program, {shard, f.communicator({Rank{1}})});
  const Execution e = execute(f.job);
  CHECK(e.step_time == ps(20));
  const auto times = replay(f.job, e, Rank{1});
  CHECK(times[1].start == ps(10));
  CHECK(times[1].cause == ArrivalCause::communicator);
  CHECK(times[1].predecessor == std::optional<std::uint32_t>(0));
  CHECK(times[2].start == ps(10));
  CHECK(times[2].cause == ArrivalCause::stream);
}

TEST_CASE("members held back by a busy communicator all arrive when it is free") {
  // The first gather runs 20..30. Rank 1 is ready for the second exactly at 30, rank 0 long before:
  // both arrive at 30, and the lower class is named.
  JobFixture f;
  const CollectiveId gather = f.collective("all_gather", 0, 10);
  const std::uint32_t c = f.communicator({Rank{0}, Rank{1}});
  for (int r = 0; r < 2; ++r) {
    ProgramBuilder b("p" + std::to_string(r));
    const StreamId s = b.add_stream("s", StreamKind::communication);
    const StreamId t = b.add_stream("t", StreamKind::communication);
    const SlotId slot = b.add_communicator_slot("shard");
    b.collective(s, slot, gather, r == 0 ? ps(20) : ps(0));
    if (r == 1) b.kernel(t, f.kernel(30), {});
    b.collective(t, slot, gather, {});
    f.rank(b, {c});
  }
  const Execution e = execute(f.job);
  CHECK(e.of_communicator(c)[1].start == ps(30));
  CHECK(e.of_communicator(c)[1].last_to_arrive == ClassId{0});
}

TEST_CASE("a slow rank's kernels take longer, rounded up, and its collectives do not") {
  // 10 ps at 1.25 are 12.5, so 13.
  JobFixture f;
  const CollectiveId gather = f.collective("all_gather", 0, 10);
  ProgramBuilder b("p");
  const StreamId s = b.add_stream("s", StreamKind::compute);
  b.kernel(s, f.kernel(10), {});
  b.collective(s, b.add_communicator_slot("shard"), gather, {});
  const ProgramId p = f.program(b);
  const std::uint32_t c = f.communicator({Rank{0}, Rank{1}});
  f.rank(p, {c});
  f.rank(p, {c});
  f.job.ranks[1].compute_time_millionths = 1'250'000;
  const Execution e = execute(f.job);
  CHECK(e.step_time == ps(23));
  CHECK(e.of_communicator(c)[0].last_to_arrive == ClassId{1});
  CHECK(replay(f.job, e, Rank{0})[0].end == ps(10));
  CHECK(replay(f.job, e, Rank{1})[0].end == ps(13));
}

TEST_CASE("the k-th send of a channel meets its k-th receive") {
  JobFixture f;
  const CollectiveId message = f.collective("send", 1, 3, "pipeline");
  const std::uint32_t channel = f.channel(Rank{0}, Rank{1});
  const KernelId k10 = f.kernel(10);
  ProgramBuilder a("first");
  const StreamId compute = a.add_stream("default", StreamKind::compute);
  const StreamId sends = a.add_stream("send", StreamKind::communication);
  const SlotId next = a.add_channel_slot("pipeline");
  for (int i = 0; i < 2; ++i) {
    a.kernel(compute, k10, {});  // 0..10, 10..20
    a.wait_stream(sends, compute);
    a.send(sends, next, message, {});  // 10..14, 20..24
  }
  f.rank(a, {channel});
  ProgramBuilder b("second");
  const StreamId stream = b.add_stream("default", StreamKind::compute);
  const SlotId previous = b.add_channel_slot("pipeline");
  for (int i = 0; i < 2; ++i) {
    b.receive(stream, previous, message, {});
    b.kernel(stream, k10, {});  // 14..24; the second receive is ready at 24: 24..28, kernel 28..38
  }
  f.rank(b, {channel});
  const Execution e = execute(f.job);
  CHECK(e.step_time == ps(38));
  CHECK(e.of_channel(channel)[1].start == ps(24));
  CHECK(e.of_channel(channel)[1].last_to_arrive == ClassId{1});
}

TEST_CASE("a program that only looks stuck in program order is run correctly") {
  // Rank 0 issues x then y, rank 1 issues y then x, on free streams; between them each rank has a
  // kernel behind its first collective, which blocks an evaluator that goes in program order.
  JobFixture f;
  const CollectiveId gather = f.collective("all_gather", 0, 10);
  const std::uint32_t x = f.communicator({Rank{0}, Rank{1}});
  const std::uint32_t y = f.communicator({Rank{0}, Rank{1}});
  const KernelId k = f.kernel(1);
  for (int r = 0; r < 2; ++r) {
    ProgramBuilder b("p" + std::to_string(r));
    const StreamId s = b.add_stream("s", StreamKind::communication);
    const StreamId t = b.add_stream("t", StreamKind::communication);
    const SlotId first = b.add_communicator_slot("first");
    const SlotId second = b.add_communicator_slot("second");
    b.collective(s, first, gather, {});
    b.kernel(s, k, {});
    b.collective(t, second, gather, ps(5));
    f.rank(b, r == 0 ? std::vector{x, y} : std::vector{y, x});
  }
  // Both meetings have one member at 0 and one at 5: 5..15; the kernels end at 16.
  const Execution e = execute(f.job);
  CHECK(e.step_time == ps(16));
  CHECK(e.of_communicator(x)[0].start == ps(5));
  CHECK(e.of_communicator(y)[0].start == ps(5));
}

TEST_CASE("a time beyond the representable range is refused") {
  JobFixture f;
  const KernelId huge = f.kernel(INT64_MAX);
  ProgramBuilder b("p");
  const StreamId s = b.add_stream("default", StreamKind::compute);
  b.kernel(s, huge, {});
  b.kernel(s, huge, {});
  f.rank(b);
  CHECK_THROWS_AS(execute(f.job), RangeError);
}
