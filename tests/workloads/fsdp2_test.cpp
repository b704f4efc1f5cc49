#include "workloads/fsdp2.hpp"

#include "workloads/fsdp2_group.hpp"

#include "tests/support/catch.hpp"
#include "tests/workloads/fake_step.hpp"

#include <algorithm>

namespace stepsim::workloads {
namespace {

using testing::ConstantCosts;
using testing::Executed;
using testing::FakeModel;
using testing::TimedOp;

struct Case {
  FakeModel model;
  Plan plan;
  Training training;
  std::int64_t micro_batches = 1;
  ConstantCosts costs;
  Time launch = Time::microseconds(1);
  Fsdp2HostCosts host;
};

Case make_case(int shard, int replicate = 1) {
  Case made;
  made.plan.shard = shard;
  made.plan.replicate = replicate;
  return made;
}

/// No host time: what remains is what streams, events and communicators impose.
void free_the_host(Case& what) {
  const Time none;
  what.launch = none;
  what.host = {none, none, none, none, none, none, none, none, none, {}};
}

sim::Job job_of(const Case& what) {
  StepCosts costs(what.costs);
  const StepWork work = testing::fake_work(what.model, costs, what.launch);
  const Fsdp2Input input{work, what.plan, what.training, what.micro_batches, what.host};
  return assemble_job(emit_fsdp2(input, costs), what.plan,
                      testing::fake_cluster(what.plan.shard * what.plan.replicate), costs);
}

Executed run(const Case& what) { return testing::execute_job(job_of(what)); }

std::vector<ParameterGroup> groups_of(const Case& what) {
  StepCosts costs(what.costs);
  return fsdp2_groups(testing::fake_work(what.model, costs, what.launch), what.plan);
}

/// Kernels short or long beside collectives, and a host that is in the way or not.
struct Pace {
  double compute_us;
  double latency_us;
  bool host_is_free;
};
constexpr Pace paces[] = {{3, 10, false}, {400, 10, false}, {20, 300, true}};

/// Many plans, so that an invariant is not true by luck of one.
std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const int shard : {2, 3, 8})
    for (const int replicate : {1, 2})
      for (const bool reshard : {true, false})
        for (const std::int64_t micro_batches : {1, 3})
          for (const bool every : {true, false})
            for (const bool tied : {false, true})
              for (const Pace& pace : paces) {
                Case made = make_case(shard, replicate);
                made.plan.reshard_after_forward = reshard;
                made.micro_batches = micro_batches;
                made.training.gradient_sync_every_micro_batch = every;
                made.model.tied = tied;
                made.costs.compute_us = pace.compute_us;
                made.costs.latency_us = pace.latency_us;
                if (pace.host_is_free) free_the_host(made);
                cases.push_back(made);
              }
  return cases;
}

TEST_CASE("the gather after next never starts before a copy-out has ended") {
  for (const Case& what : all_cases()) {
    const Executed step = run(what);
    const auto gathers = step.named("all_gather");
    const auto copies = step.named("all_gather_copy_out");
    REQUIRE(gathers.size() == copies.size());
    for (std::size_t k = 0; k < gathers.size(); ++k) {
      CHECK(copies[k].start >= gathers[k].end);
      if (k + 2 < gathers.size()) CHECK(gathers[k + 2].start >= copies[k].end);
    }
  }
}

TEST_CASE("the next block's gather runs while a block computes") {
  Case what = make_case(8);
  free_the_host(what);
  what.costs.compute_us = 400;
  const Executed step = run(what);
  for (int i = 0; i + 1 < what.model.layers; ++i) {
    const std::string own = "forward/layers." + std::to_string(i);
    const std::string next = "forward/layers." + std::to_string(i + 1);
    std::vector<TimedOp> kernels;
    for (const TimedOp& op : step.ops)
      if (op.scope == own && op.name.rfind("compute", 0) == 0) kernels.push_back(op);
    const auto gathers = step.named("all_gather");
    const auto gather = std::find_if(gathers.begin(), gathers.end(),
                                     [&](const TimedOp& op) { return op.scope == next; });
    REQUIRE(gather != gathers.end());
    CHECK(gather->start < kernels.front().end);
    CHECK(gather->end < kernels.back().end);
  }
}

TEST_CASE("a slow host delays the implicit prefetch") {
  Case what = make_case(8);
  free_the_host(what);
  what.costs.compute_us = 20;
  const Time fast = run(what).execution.step_time;
  what.host.pre_forward = Time::milliseconds(1);
  const Executed slow = run(what);
  CHECK(slow.execution.step_time >= fast + Time::milliseconds(1) * what.model.layers);
}

TEST_CASE("backward gathers the block before while a block's gradients are computed") {
  Case what = make_case(8);
  free_the_host(what);
  what.costs.compute_us = 400;
  const Executed step = run(what);
  std::vector<std::string> scopes;
  for (const TimedOp& op : step.named("all_gather"))
    if (op.scope.rfind("backward/", 0) == 0) scopes.push_back(op.scope);
  // The head is kept after forward; its hook prefetches the last block, whose hook prefetches the
  // one before, and so on down to the embedding.
  REQUIRE(scopes.size() == static_cast<std::size_t>(what.model.layers) + 1);
  CHECK(scopes.front() == "backward/head");
  for (int i = 0; i < what.model.layers; ++i)
    CHECK(scopes[static_cast<std::size_t>(i) + 1] ==
          "backward/layers." + std::to_string(what.model.layers - 1 - i));
}

TEST_CASE("at most two all-gather buffers and one reduce-scatter input are held") {
  for (const Case& what : all_cases()) {
    const sim::Job job = job_of(what);
    CHECK(testing::most_held(job.programs.front(), "all_gather_output") == 2);
    CHECK(testing::most_held(job.programs.front(), "reduce_scatter_input") == 1);
  }
}

TEST_CASE("a gradient copy-in starts after the reduce-scatter before it has ended") {
  for (const Case& what : all_cases()) {
    const Executed step = run(what);
    const auto copies = step.named("reduce_scatter_copy_in");
    const auto scatters = step.named("reduce_scatter");
    REQUIRE(copies.size() == scatters.size());
    for (std::size_t k = 0; k < copies.size(); ++k) {
      CHECK(scatters[k].start >= copies[k].end);
      if (k > 0) CHECK(copies[k].start >= scatters[k - 1].end);
    }
  }
}

TEST_CASE("collectives of one communicator never overlap") {
  for (const Case& what : all_cases()) {
    const Executed step = run(what);
    for (const std::string group : {"shard", "replicate"}) {
      std::vector<TimedOp> ops;
      for (const TimedOp& op : step.ops)
        if (op.group == group) ops.push_back(op);
      std::sort(ops.begin(), ops.end(),
                [](const TimedOp& a, const TimedOp& b) { return a.start < b.start; });
      for (std::size_t k = 1; k < ops.size(); ++k) CHECK(ops[k].start >= ops[k - 1].end);
    }
  }
}

TEST_CASE("the volume of a step is that of its groups, exactly") {
  for (const Case& what : all_cases()) {
    const Executed step = run(what);
    Bytes gathers;
    Bytes scatters;
    for (const ParameterGroup& group : groups_of(what)) {
      const std::int64_t times = group.reshard_after_forward ? 2 : 1;
      gathers += all_gather_bytes(group, what.training) * times;
      scatters += reduce_scatter_bytes(group, what.training);
    }
    const std::int64_t syncs =
        what.training.gradient_sync_every_micro_batch ? what.micro_batches : 1;
    CHECK(step.collective_bytes("all_gather", "shard") == gathers * what.micro_batches);
    CHECK(step.collective_bytes("reduce_scatter", "shard") == scatters * syncs);
    CHECK(step.collective_bytes("all_reduce", "shard") == Bytes(4));  // the gradient norm
    const Bytes replicas =
        what.plan.replicate > 1 ? Bytes(scatters.count() / what.plan.shard) * syncs : Bytes(0);
    CHECK(step.collective_bytes("all_reduce", "replicate") == replicas);
  }
}

TEST_CASE(
    "when every dimension divides, groups that reshard move 3 bytes of volume a parameter byte") {
  Case what = make_case(4);
  what.model.hidden = 256;
  const auto groups = groups_of(what);
  std::int64_t elements = 0;
  std::int64_t padded = 0;
  for (const ParameterGroup& group : groups) {
    elements += group.elements;
    padded += group.padded_elements;
  }
  // Only the block's input matrix (3·256 + 1 rows) is padded, by three rows.
  CHECK(padded - elements == what.model.layers * 3 * 256);
}

TEST_CASE("uneven rows are padded to a multiple of the shard degree") {
  CHECK(padded_count({"w", {769, 256}}, 4) == 772 * 256);
  CHECK(padded_count({"w", {768, 256}}, 4) == 768 * 256);
  CHECK(padded_count({"w", {3}}, 8) == 8);
  CHECK(padded_count({"w", {}}, 8) == 8);
}

TEST_CASE("with free communication, copies and host a step is its compute") {
  for (Case what : all_cases()) {
    free_the_host(what);
    what.costs.copy_us = 0;
    what.costs.latency_us = 0;
    what.costs.gigabytes_per_second = 0;
    const Executed step = run(what);
    Time compute;
    for (const TimedOp& op : step.on_stream("default")) compute += op.end - op.start;
    CHECK(step.execution.step_time == compute);
  }
}

TEST_CASE("a kept model gathers once a micro-batch, a resharded one all but its last group twice") {
  Case what = make_case(8);
  CHECK(run(what).named("all_gather").size() ==
        2 * static_cast<std::size_t>(what.model.layers + 1) + 1);
  what.plan.reshard_after_forward = false;
  CHECK(run(what).named("all_gather").size() == static_cast<std::size_t>(what.model.layers + 2));
}

TEST_CASE("a tied model has one group for embedding and head, gathered once") {
  Case what = make_case(8);
  what.model.tied = true;
  const auto groups = groups_of(what);
  CHECK(groups.size() == static_cast<std::size_t>(what.model.layers) + 1);
  CHECK(groups.front().modules == std::vector<std::size_t>{0, 7});
  CHECK_FALSE(groups.front().reshard_after_forward);
  CHECK(run(what).named("all_gather").size() ==
        2 * static_cast<std::size_t>(what.model.layers) + 1);
}

TEST_CASE("one rank communicates with nobody and still steps") {
  Case what = make_case(1);
  what.micro_batches = 2;
  const Executed step = run(what);
  CHECK(step.job.communicators.empty());
  CHECK(step.named("all_gather").empty());
  CHECK(step.named("optimizer").size() == 1);
}

TEST_CASE("replicas that reduce for free step as fast as no replicas") {
  Case plain = make_case(4);
  plain.costs.latency_us = 0;
  plain.costs.gigabytes_per_second = 0;
  plain.costs.copy_us = 0;
  Case hybrid = plain;
  hybrid.plan.replicate = 2;
  plain.host.collective = hybrid.host.collective = Time::zero();
  CHECK(run(plain).execution.step_time == run(hybrid).execution.step_time);
}

TEST_CASE("the all-reduce between replicas runs beside the next reduce-scatter") {
  Case what = make_case(4, 2);
  free_the_host(what);
  what.costs.latency_us = 200;
  what.costs.compute_us = 1;
  const Executed step = run(what);
  const auto reduces = step.on_stream("all_reduce");
  const auto scatters = step.named("reduce_scatter");
  bool overlap = false;
  for (const TimedOp& a : reduces)
    for (const TimedOp& b : scatters)
      overlap = overlap || (a.name == "all_reduce" && a.start < b.end && b.start < a.end);
  CHECK(overlap);
}

// Parameters, gradients and communication buffers of the fake model in host order, block by block:
// while block i's gradients are complete, its unsharded parameters, the gathered block before it,
// its own gradients and the reduce-scatter input of the block after it are held.
TEST_CASE("peak memory of parameters follows the closed form in host order") {
  for (const int shard : {2, 8, 16}) {
    Case what = make_case(shard);
    what.model.activation = Bytes(0);
    what.model.vocabulary = 256;
    const auto groups = groups_of(what);
    const std::int64_t block = groups[1].padded_elements;
    const std::int64_t own = groups[1].elements;
    const std::int64_t layers = what.model.layers;
    std::int64_t local = 0;
    for (const ParameterGroup& group : groups) local += group.padded_elements / shard;
    const std::int64_t persistent = 12 * local;
    const std::int64_t head = 4 * groups.back().padded_elements / shard;
    const auto backward = [&](std::int64_t i, std::int64_t before) {
      const std::int64_t reduced = head + (layers - 1 - i) * 4 * block / shard;
      return persistent + 2 * block + 2 * before + 2 * own + 4 * block + reduced;
    };
    const std::int64_t expected =
        std::max(backward(1, block), backward(0, groups.front().padded_elements));
    const sim::Job job = job_of(what);
    CHECK(sim::replay_memory(job.programs.front(), Bytes(1)).peak_allocated == Bytes(expected));
  }
}

TEST_CASE("before backward, memory peaks with two gathered blocks or one and its copy") {
  Case what = make_case(8);
  what.model.activation = Bytes(0);
  what.model.vocabulary = 256;
  const auto groups = groups_of(what);
  const std::int64_t block = groups[1].padded_elements;
  std::int64_t persistent = 0;
  for (const ParameterGroup& group : groups) persistent += 12 * group.padded_elements / 8;
  const sim::Job job = job_of(what);
  const sim::Program& program = job.programs.front();
  Bytes forward_peak;
  for (const sim::MemoryPoint& point : sim::replay_memory(program, Bytes(1)).curve)
    if (program.scopes[program.ops[point.op].scope.index()].rfind("forward", 0) == 0)
      forward_peak = std::max(forward_peak, point.allocated);
  // The cast shard that feeds the copy-in of the second is held for a moment.
  CHECK(forward_peak == Bytes(persistent + 2 * 2 * block + 2 * block / 8));
}

TEST_CASE("unsynchronised micro-batches hold whole gradients in reduce precision") {
  Case what = make_case(8);
  what.micro_batches = 2;
  const auto held = [&](const Case& each) {
    const sim::Job job = job_of(each);
    return testing::most_held(job.programs.front(), "accumulated_gradient");
  };
  CHECK(held(what) == 0);
  what.training.gradient_sync_every_micro_batch = false;
  CHECK(held(what) == what.model.layers + 2);
}

}  // namespace
}  // namespace stepsim::workloads
