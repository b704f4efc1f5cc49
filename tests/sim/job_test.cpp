#include "sim/job.hpp"

#include "sim/base/error.hpp"

#include "tests/sim/job_fixture.hpp"
#include "tests/support/catch.hpp"

using namespace stepsim;
using namespace stepsim::sim;
using namespace stepsim::sim::testing;

namespace {

/// Two ranks with a communicator and a channel between them: valid.
Job valid_job() {
  JobFixture f;
  const CollectiveId gather = f.collective("all_gather", 0, 10);
  f.communicator({Rank{0}, Rank{1}});
  f.channel(Rank{0}, Rank{1});
  for (int r = 0; r < 2; ++r) {
    ProgramBuilder b("p");
    const StreamId s = b.add_stream("default", StreamKind::compute);
    const SlotId slot = b.add_communicator_slot("shard");
    const SlotId channel = b.add_channel_slot("pipeline");
    b.kernel(s, f.kernel(1), {});
    b.collective(s, slot, gather, {});
    if (r == 0) {
      b.send(s, channel, gather, {});
    } else {
      b.receive(s, channel, gather, {});
    }
    f.rank(b, {0, 0});
  }
  return f.job;
}

template <class Change>
void check_refused(Change change) {
  Job job = valid_job();
  change(job);
  CHECK_THROWS_AS(check_job(job), InternalError);
}

}  // namespace

TEST_CASE("a consistent job passes the check") { CHECK_NOTHROW(check_job(valid_job())); }

TEST_CASE("every kind of inconsistency is refused") {
  check_refused([](Job& job) { job.programs[0].ops[0].target = 9; });
  check_refused([](Job& job) { job.programs[0].ops[0].stream = StreamId{9}; });
  check_refused([](Job& job) { job.programs[0].ops[1].target = 9; });
  check_refused([](Job& job) { job.programs[0].ops[1].slot = SlotId{9}; });
  check_refused([](Job& job) { job.programs[0].ops[1].slot = SlotId{1}; });
  check_refused([](Job& job) { job.programs[0].ops[1].scope = ScopeId{9}; });
  check_refused([](Job& job) { job.programs[0].ops[1].host_time = ps(-1); });
  check_refused([](Job& job) { job.programs[0].ops[2].kind = OpKind::receive; });
  check_refused([](Job& job) { job.ranks[0].program = ProgramId{9}; });
  check_refused([](Job& job) { job.ranks[0].bindings.pop_back(); });
  check_refused([](Job& job) { job.ranks[0].bindings[0] = 9; });
  check_refused([](Job& job) { job.communicators[0].members = {Rank{0}, Rank{0}}; });
  check_refused([](Job& job) { job.communicators[0].members = {Rank{0}}; });
  check_refused([](Job& job) { job.communicators[0].cost_row = 9; });
  check_refused([](Job& job) { job.channels[0].receiver = Rank{0}; });
  check_refused([](Job& job) { job.channels[0].cost_row = 9; });
  check_refused([](Job& job) { job.kernels[0].fixed = ps(100); });
  check_refused([](Job& job) { job.collective_costs[0].clear(); });
  check_refused([](Job& job) { job.collective_costs[0][0].latency = ps(-1); });
}
