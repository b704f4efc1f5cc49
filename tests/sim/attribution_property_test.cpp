// Properties of the accountings that hold for every job, checked on random ones.

#include "sim/attribution.hpp"

#include "tests/sim/random_job.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>

using namespace stepsim;
using namespace stepsim::sim;
using namespace stepsim::sim::testing;

namespace {

constexpr std::uint64_t seeds = 2000;

Time exposed_by_group(const TimeLine& line) {
  Time sum;
  for (const GroupUse& use : line.communication) sum += use.exposed;
  return sum;
}

Time idle_by_cause(const TimeLine& line) {
  Time sum;
  for (const Time idle : line.idle_by_cause) sum += idle;
  return sum;
}

void require_sums(const TimeLine& line, Time step_time) {
  REQUIRE(line.compute + line.bubble + line.exposed + line.idle == step_time);
  REQUIRE(exposed_by_group(line) == line.exposed);
  REQUIRE(idle_by_cause(line) == line.idle);
  REQUIRE(line.busy_compute == line.compute);
  REQUIRE(line.overlapped <= line.busy_compute);
  REQUIRE(line.overlapped <= line.busy_communication);
}

/// The same job with its ranks in reverse order.
Job reversed(const Job& job) {
  Job other = job;
  std::reverse(other.ranks.begin(), other.ranks.end());
  const auto count = static_cast<std::uint32_t>(job.ranks.size());
  const auto mirror = [&](Rank& rank) { rank = Rank{count - 1 - rank.value}; };
  for (Communicator& communicator : other.communicators) {
    std::for_each(communicator.members.begin(), communicator.members.end(), mirror);
  }
  for (Channel& channel : other.channels) {
    mirror(channel.sender);
    mirror(channel.receiver);
  }
  return other;
}

}  // namespace

TEST_CASE("the critical path covers the step without gaps and never waits") {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    INFO("seed " << seed);
    const Job job = random_job(seed, {});
    const Execution execution = execute(job);
    const CriticalPath path = critical_path(job, execution);
    Time reached = execution.step_time;
    Time sum;
    for (const Time time : path.by_clock) sum += time;
    REQUIRE(sum == execution.step_time);
    for (const PathStep& step : path.steps) {
      REQUIRE(step.end == reached);
      const Program& program = job.programs[job.ranks[step.rank.index()].program.index()];
      // A step is never longer than what the op costs by itself: waiting would make it so.
      const Op& op = program.ops[step.op];
      Time longest = op.host_time;
      if (op.kind == OpKind::kernel) longest = std::max(longest, job.kernels[op.target].time);
      if (is_coupling_op(op.kind)) {
        for (const auto& row : job.collective_costs) {
          longest = std::max(longest, row[op.target].latency + row[op.target].transfer);
        }
      }
      REQUIRE(step.end - step.begin <= longest);
      reached = step.begin;
    }
    REQUIRE(reached == Time::zero());
  }
}

TEST_CASE("every rank's time line and their mean sum to the step") {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    INFO("seed " << seed);
    const Job job = random_job(seed, {});
    const Execution execution = execute(job);
    std::int64_t compute = 0;
    for (std::uint32_t r = 0; r < job.ranks.size(); ++r) {
      const TimeLine line = time_line(job, execution, Rank{r});
      require_sums(line, execution.step_time);
      compute += line.compute.count_ps();
    }
    const TimeLine mean = mean_time_line(job, execution);
    require_sums(mean, execution.step_time);
    REQUIRE(mean.compute ==
            Time::picoseconds(compute / static_cast<std::int64_t>(job.ranks.size())));
  }
}

TEST_CASE("renumbering the ranks changes neither the step nor the mean time line") {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    INFO("seed " << seed);
    const Job job = random_job(seed, {});
    const Job other = reversed(job);
    const Execution a = execute(job);
    const Execution b = execute(other);
    REQUIRE(a.step_time == b.step_time);
    const TimeLine mean_a = mean_time_line(job, a);
    const TimeLine mean_b = mean_time_line(other, b);
    REQUIRE(mean_a.compute == mean_b.compute);
    REQUIRE(mean_a.bubble == mean_b.bubble);
    REQUIRE(mean_a.exposed == mean_b.exposed);
  }
}

TEST_CASE("a slower rank never shortens the step where nothing is shared") {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    INFO("seed " << seed);
    Job job = random_job(seed, {});
    const Time before = execute(job).step_time;
    job.ranks[seed % job.ranks.size()].compute_time_millionths = 1'300'000;
    REQUIRE(execute(job).step_time >= before);
  }
}

TEST_CASE("the critical path covers the step where resources are shared too") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    INFO("seed " << seed);
    Job job = random_job(seed, {});
    Random random(seed);
    add_sharing(job, random, random.between(1, 3), 0);
    const Execution execution = execute(job);
    const CriticalPath path = critical_path(job, execution);
    Time sum;
    for (const Time time : path.by_clock) sum += time;
    REQUIRE(sum == execution.step_time);
    for (const PathStep& step : path.steps) {
      // What sharing added is part of the communication of a step that names what it shared with.
      REQUIRE(step.by_clock[static_cast<std::size_t>(Clock::communication)] >= step.sharing);
      REQUIRE((step.sharing > Time::zero()) ==
              (step.resident_op.has_value() || step.slowest_link.has_value()));
    }
    require_sums(mean_time_line(job, execution), execution.step_time);
  }
}

TEST_CASE("the critical path covers the step where kernels have noise, and says what it added") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    INFO("seed " << seed);
    Job job = random_job(seed, {});
    job.jitter = {seed, 30'000};
    const Execution execution = execute(job);
    const CriticalPath path = critical_path(job, execution);
    Time sum;
    for (const Time time : path.by_clock) sum += time;
    REQUIRE(sum == execution.step_time);
    for (const PathStep& step : path.steps) {
      const Program& program = job.programs[job.ranks[step.rank.index()].program.index()];
      const Op& op = program.ops[step.op];
      if (op.kind != OpKind::kernel ||
          step.by_clock[static_cast<std::size_t>(Clock::overhead)] == step.end - step.begin) {
        continue;
      }
      REQUIRE(step.end - step.begin == job.kernels[op.target].time + step.noise);
    }
    require_sums(mean_time_line(job, execution), execution.step_time);
  }
}

TEST_CASE("a kernel or collective that takes longer never shortens the step") {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    INFO("seed " << seed);
    Job job = random_job(seed, {});
    const Time before = execute(job).step_time;
    job.kernels[seed % job.kernels.size()].time += Time::picoseconds(7);
    const Time with_kernel = execute(job).step_time;
    REQUIRE(with_kernel >= before);
    job.collective_costs[0][seed % job.collectives.size()].transfer += Time::picoseconds(7);
    REQUIRE(execute(job).step_time >= with_kernel);
  }
}
