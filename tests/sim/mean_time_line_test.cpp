#include "sim/attribution.hpp"

#include "tests/sim/job_fixture.hpp"
#include "tests/support/catch.hpp"

using namespace stepsim;
using namespace stepsim::sim;
using namespace stepsim::sim::testing;

TEST_CASE("the mean over ranks keeps the sum though its parts do not divide") {
  // Three ranks compute 10, 11 and 11 of a step of 11: mean 10 2/3 and 1/3 idle.
  JobFixture f;
  for (const std::int64_t time : {10, 11, 11}) {
    ProgramBuilder b("p" + std::to_string(time));
    b.kernel(b.add_stream("default", StreamKind::compute), f.kernel(time), {});
    f.rank(b);
  }
  const TimeLine mean = mean_time_line(f.job, execute(f.job));
  CHECK(mean.compute == ps(10));
  CHECK(mean.idle == ps(1));
  CHECK(mean.idle_by_cause[static_cast<std::size_t>(IdleCause::finished)] == ps(1));
}

TEST_CASE("ranks with one program and the same meetings are one class") {
  JobFixture f;
  const CollectiveId gather = f.collective("all_gather", 0, 10);
  ProgramBuilder b("p");
  const StreamId s = b.add_stream("default", StreamKind::compute);
  b.kernel(s, f.kernel(10), {});
  b.collective(s, b.add_communicator_slot("shard"), gather, {});
  const ProgramId p = f.program(b);
  const std::uint32_t one = f.communicator({Rank{0}, Rank{1}});
  const std::uint32_t two = f.communicator({Rank{2}, Rank{3}});
  for (const std::uint32_t c : {one, one, two, two}) f.rank(p, {c});
  const Execution e = execute(f.job);
  const TimeLine mean = mean_time_line(f.job, e);
  CHECK(e.classes.count() == 1);
  const TimeLine single = time_line(f.job, e, Rank{3});
  CHECK(mean.compute == single.compute);
  CHECK(mean.exposed == single.exposed);
  CHECK(mean.communication[0].count == 1);
  CHECK(mean.communication[0].busy == single.communication[0].busy);
}

TEST_CASE("a job without ranks has an empty mean") {
  CHECK(mean_time_line(Job{}, execute(Job{})).communication.empty());
}
