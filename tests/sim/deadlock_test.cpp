#include "sim/executor.hpp"

#include "tests/sim/job_fixture.hpp"
#include "tests/support/catch.hpp"

#include <string>

using namespace stepsim;
using namespace stepsim::sim;
using namespace stepsim::sim::testing;

namespace {

std::string deadlock_of(const Job& job) {
  try {
    execute(job);
  } catch (const DeadlockError& error) {
    return error.what();
  }
  return "no deadlock";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a cycle of collectives is explained op by op") {
  JobFixture f;
  const CollectiveId gather = f.collective("all_gather", 0, 10);
  const CollectiveId scatter = f.collective("reduce_scatter", 0, 10);
  const std::uint32_t x = f.communicator({Rank{0}, Rank{1}}, "shard");
  const std::uint32_t y = f.communicator({Rank{0}, Rank{1}}, "replicate");
  for (int r = 0; r < 2; ++r) {
    ProgramBuilder b(r == 0 ? "even" : "odd");
    const StreamId s = b.add_stream("nccl", StreamKind::communication);
    const SlotId shard = b.add_communicator_slot("shard");
    const SlotId replicate = b.add_communicator_slot("replicate");
    b.set_scope("forward/layers.1");
    if (r == 0) b.collective(s, shard, gather, {});
    b.collective(s, replicate, scatter, {});
    if (r == 1) b.collective(s, shard, gather, {});
    f.rank(b, {x, y});
  }
  CHECK(
      deadlock_of(f.job) ==
      "the step can never finish: these ops wait on each other\n"
      "  rank 0 (program «even»), op 1 reduce_scatter in forward/layers.1 on stream «nccl»: is "
      "behind "
      "this on stream «nccl»\n"
      "  rank 0 (program «even»), op 0 all_gather in forward/layers.1 on stream «nccl»: waits on "
      "communicator 0 (shard, 2 ranks) for rank 1 to reach operation number 0 there\n"
      "  rank 1 (program «odd»), op 1 all_gather in forward/layers.1 on stream «nccl»: is behind "
      "this "
      "on stream «nccl»\n"
      "  rank 1 (program «odd»), op 0 reduce_scatter in forward/layers.1 on stream «nccl»: waits "
      "on "
      "communicator 1 (replicate, 2 ranks) for rank 0 to reach operation number 0 there\n"
      "  and so back to rank 0 (program «even»), op 1 reduce_scatter in forward/layers.1 on stream "
      "«nccl»");
}

TEST_CASE("a host sync that holds back its own cause is a deadlock") {
  // Rank 0 waits on the host for a receive whose send rank 1 issues only after a receive from rank
  // 0.
  JobFixture f;
  const CollectiveId message = f.collective("send", 0, 10, "pipeline");
  const std::uint32_t down = f.channel(Rank{0}, Rank{1});
  const std::uint32_t up = f.channel(Rank{1}, Rank{0});
  ProgramBuilder a("first");
  const StreamId s = a.add_stream("p2p", StreamKind::communication);
  const SlotId to = a.add_channel_slot("pipeline");
  const SlotId from = a.add_channel_slot("pipeline");
  a.receive(s, from, message, {});
  a.host_sync_stream(s);
  a.send(s, to, message, {});
  f.rank(a, {down, up});
  ProgramBuilder b("second");
  const StreamId t = b.add_stream("p2p", StreamKind::communication);
  const SlotId in = b.add_channel_slot("pipeline");
  const SlotId out = b.add_channel_slot("pipeline");
  b.receive(t, in, message, {});
  b.send(t, out, message, {});
  f.rank(b, {down, up});
  const std::string text = deadlock_of(f.job);
  CHECK(contains(text, "op 1 host_sync: is behind this on stream «p2p»"));
  CHECK(contains(text, "is not issued yet: the host of rank 0 is held by an earlier op"));
}

TEST_CASE("a collective that one member never reaches names the member") {
  JobFixture f;
  const CollectiveId gather = f.collective("all_gather", 0, 10);
  const std::uint32_t c = f.communicator({Rank{0}, Rank{1}});
  for (int r = 0; r < 2; ++r) {
    ProgramBuilder b(r == 0 ? "long" : "short");
    const StreamId s = b.add_stream("nccl", StreamKind::communication);
    const SlotId slot = b.add_communicator_slot("shard");
    b.set_scope("backward/head");
    b.collective(s, slot, gather, {});
    if (r == 0) b.collective(s, slot, gather, {});
    f.rank(b, {c});
  }
  CHECK(deadlock_of(f.job) ==
        "operation number 1 of communicator 0 (shard, 2 ranks) can never start: rank 0 issues "
        "all_gather "
        "(op 1 of program «long», backward/head), but rank 1 (program «short») ends after issuing "
        "1 of 2 "
        "there");
}

TEST_CASE("a send without a receive is named") {
  JobFixture f;
  const CollectiveId message = f.collective("send", 0, 10, "pipeline");
  const std::uint32_t c = f.channel(Rank{0}, Rank{1});
  ProgramBuilder a("sender");
  const StreamId s = a.add_stream("p2p", StreamKind::communication);
  a.send(s, a.add_channel_slot("pipeline"), message, {});
  f.rank(a, {c});
  ProgramBuilder b("receiver");
  b.add_channel_slot("pipeline");
  f.rank(b, {c});
  CHECK(
      deadlock_of(f.job) ==
      "operation number 0 of channel 0 (pipeline, rank 0 to rank 1) can never start: rank 0 issues "
      "send (op 0 of program «sender»), but rank 1 (program «receiver») ends after issuing 0 of 1 "
      "there");
}

TEST_CASE("members that disagree about a collective are named") {
  JobFixture f;
  const CollectiveId gather = f.collective("all_gather", 0, 10);
  const CollectiveId scatter = f.collective("reduce_scatter", 0, 10);
  const std::uint32_t c = f.communicator({Rank{0}, Rank{1}});
  for (int r = 0; r < 2; ++r) {
    ProgramBuilder b(r == 0 ? "even" : "odd");
    const StreamId s = b.add_stream("nccl", StreamKind::communication);
    b.collective(s, b.add_communicator_slot("shard"), r == 0 ? gather : scatter, {});
    f.rank(b, {c});
  }
  CHECK(
      deadlock_of(f.job) ==
      "members of communicator 0 (shard, 2 ranks) disagree about its operation number 0: rank 0 "
      "issues "
      "all_gather (op 0 of program «even»), rank 1 issues reduce_scatter (op 0 of program «odd»)");
}
