#include "sim/attribution.hpp"

#include "tests/sim/job_fixture.hpp"
#include "tests/support/catch.hpp"

using namespace stepsim;
using namespace stepsim::sim;
using namespace stepsim::sim::testing;

namespace {

Time idle(const TimeLine& line, IdleCause cause) {
  return line.idle_by_cause[static_cast<std::size_t>(cause)];
}

const GroupUse& use_of(const TimeLine& line, const std::string& group, const std::string& op) {
  for (const GroupUse& use : line.communication) {
    if (use.group == group && use.op == op) return use;
  }
  throw std::runtime_error("no such group");
}

}  // namespace

TEST_CASE("communication beside a kernel is hidden, the rest exposed") {
  // The gather runs 0..30 on its own stream beside a kernel 0..10; the next kernel waits for
  // it: 30..40.
  JobFixture f;
  const CollectiveId gather = f.collective("all_gather", 5, 25);
  const KernelId k = f.kernel(10);
  ProgramBuilder b("p");
  const StreamId s = b.add_stream("default", StreamKind::compute);
  const StreamId t = b.add_stream("all_gather", StreamKind::communication);
  const SlotId slot = b.add_communicator_slot("shard");
  b.collective(t, slot, gather, {});
  b.kernel(s, k, {});
  b.wait_stream(s, t);
  b.kernel(s, k, {});
  const Rank r = f.rank(b, {f.communicator({Rank{0}})});
  const TimeLine line = time_line(f.job, execute(f.job), r);
  CHECK(line.compute == ps(20));
  CHECK(line.exposed == ps(20));
  CHECK(line.bubble == ps(0));
  CHECK(line.idle == ps(0));
  CHECK(line.busy_communication == ps(30));
  CHECK(line.overlapped == ps(10));
  const GroupUse& use = use_of(line, "shard", "all_gather");
  CHECK(use.count == 1);
  CHECK(use.bytes == Bytes(1024));
  CHECK(use.busy == ps(30));
  CHECK(use.exposed == ps(20));
}

TEST_CASE("waiting for members is exposed but not busy") {
  // Rank 0 arrives at 10, rank 1 at 50; the collective runs 50..60.
  JobFixture f;
  const CollectiveId reduce = f.collective("all_reduce", 0, 10);
  const std::uint32_t c = f.communicator({Rank{0}, Rank{1}});
  for (const std::int64_t time : {10, 50}) {
    ProgramBuilder b("p" + std::to_string(time));
    const StreamId s = b.add_stream("default", StreamKind::compute);
    const SlotId slot = b.add_communicator_slot("tensor");
    b.kernel(s, f.kernel(time), {});
    b.collective(s, slot, reduce, {});
    f.rank(b, {c});
  }
  const Execution e = execute(f.job);
  const TimeLine early = time_line(f.job, e, Rank{0});
  CHECK(early.exposed == ps(50));
  CHECK(early.busy_communication == ps(10));
  const TimeLine late = time_line(f.job, e, Rank{1});
  CHECK(late.exposed == ps(10));
}

TEST_CASE("exposed time belongs to the op that releases the next kernel") {
  // The reduce-scatter runs 10..20, the gather behind it on the same communicator 20..24, and the
  // next kernel waits for the gather alone: all 14 are the gather's.
  JobFixture f;
  const CollectiveId scatter = f.collective("reduce_scatter", 0, 10);
  const CollectiveId gather = f.collective("all_gather", 0, 4);
  const KernelId k = f.kernel(10);
  ProgramBuilder b("p");
  const StreamId s = b.add_stream("default", StreamKind::compute);
  const StreamId t = b.add_stream("reduce_scatter", StreamKind::communication);
  const StreamId u = b.add_stream("all_gather", StreamKind::communication);
  const SlotId slot = b.add_communicator_slot("shard");
  b.kernel(s, k, {});
  b.wait_stream(t, s);
  b.wait_stream(u, s);
  b.collective(t, slot, scatter, {});
  b.collective(u, slot, gather, {});
  b.wait_stream(s, u);
  b.kernel(s, k, {});
  const Rank r = f.rank(b, {f.communicator({Rank{0}})});
  const TimeLine line = time_line(f.job, execute(f.job), r);
  CHECK(line.exposed == ps(14));
  CHECK(use_of(line, "shard", "all_gather").exposed == ps(14));
  CHECK(use_of(line, "shard", "reduce_scatter").exposed == ps(0));
  CHECK(use_of(line, "shard", "reduce_scatter").busy == ps(10));
}

TEST_CASE("waiting for a pipeline peer is a bubble, its transfer is exposed") {
  // The peer sends at 40; the message takes 6; rank 1 has nothing to do until 46.
  JobFixture f;
  const CollectiveId message = f.collective("send", 0, 6, "pipeline");
  const std::uint32_t channel = f.channel(Rank{0}, Rank{1});
  ProgramBuilder a("first");
  const StreamId s = a.add_stream("default", StreamKind::compute);
  a.kernel(s, f.kernel(40), {});
  a.send(s, a.add_channel_slot("pipeline"), message, {});
  f.rank(a, {channel});
  ProgramBuilder b("second");
  const StreamId t = b.add_stream("default", StreamKind::compute);
  b.receive(t, b.add_channel_slot("pipeline"), message, {});
  b.kernel(t, f.kernel(10), {});
  f.rank(b, {channel});
  const Execution e = execute(f.job);
  const TimeLine second = time_line(f.job, e, Rank{1});
  CHECK(second.bubble == ps(40));
  CHECK(second.exposed == ps(6));
  CHECK(second.compute == ps(10));
  const TimeLine first = time_line(f.job, e, Rank{0});
  CHECK(first.bubble == ps(0));
  CHECK(idle(first, IdleCause::finished) == ps(10));
}

TEST_CASE("a receive posted early is no bubble while something else holds the rank up") {
  // The receive waits from 0 on its own stream; a tensor all-reduce delays the next kernel 10..25.
  JobFixture f;
  const CollectiveId message = f.collective("send", 0, 6, "pipeline");
  const CollectiveId reduce = f.collective("all_reduce", 0, 15);
  const KernelId k = f.kernel(10);
  const std::uint32_t channel = f.channel(Rank{0}, Rank{1});
  ProgramBuilder a("first");
  const StreamId s = a.add_stream("default", StreamKind::compute);
  a.kernel(s, f.kernel(30), {});
  a.send(s, a.add_channel_slot("pipeline"), message, {});  // 30..36
  f.rank(a, {channel});
  ProgramBuilder b("second");
  const StreamId t = b.add_stream("default", StreamKind::compute);
  const StreamId u = b.add_stream("receive", StreamKind::communication);
  const SlotId previous = b.add_channel_slot("pipeline");
  const SlotId tensor = b.add_communicator_slot("tensor");
  b.receive(u, previous, message, {});
  b.kernel(t, k, {});                   // 0..10
  b.collective(t, tensor, reduce, {});  // 10..25
  b.kernel(t, k, {});                   // 25..35
  f.rank(b, {channel, f.communicator({Rank{1}})});
  const TimeLine line = time_line(f.job, execute(f.job), Rank{1});
  CHECK(line.bubble == ps(0));
  CHECK(use_of(line, "tensor", "all_reduce").exposed == ps(15));
  CHECK(use_of(line, "pipeline", "send").exposed == ps(1));  // 35..36, at the end of the step
}

TEST_CASE("idle time is named after what the host did") {
  JobFixture f;
  const KernelId k = f.kernel(10);
  ProgramBuilder b("p");
  const StreamId s = b.add_stream("default", StreamKind::compute);
  const StreamId t = b.add_stream("copy", StreamKind::copy);
  b.set_scope("data_loader/next");
  b.host_work(ps(7));  // 0..7
  b.set_scope("forward");
  b.kernel(s, k, ps(3));  // issued 10, 10..20
  b.host_work(ps(20));    // host at 30
  b.kernel(s, k, ps(5));  // issued 35, 35..45: 15 idle for launches
  b.host_sync_stream(s);  // host at 45
  b.kernel(s, k, ps(2));  // issued 47, 47..57: 2 idle for the sync
  b.wait_stream(t, s);
  b.kernel(t, k, {});  // 57..67
  b.wait_stream(s, t);
  b.kernel(s, k, {});  // 67..77: 10 idle for the copy
  b.set_scope("optimizer/cpu");
  b.host_work(ps(100));  // host at 147
  b.kernel(s, k, {});    // 147..157: 70 idle for the optimizer
  const Rank r = f.rank(b);
  const TimeLine line = time_line(f.job, execute(f.job), r);
  CHECK(line.compute == ps(50));
  CHECK(idle(line, IdleCause::data_loader) == ps(7));
  CHECK(idle(line, IdleCause::launch) == ps(3 + 15));
  CHECK(idle(line, IdleCause::host_sync) == ps(2));
  CHECK(idle(line, IdleCause::copy) == ps(10));
  CHECK(idle(line, IdleCause::optimizer_wait) == ps(70));
  CHECK(line.idle == ps(107));
}
