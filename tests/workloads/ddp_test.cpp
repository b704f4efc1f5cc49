#include "workloads/ddp.hpp"

#include "tests/support/catch.hpp"
#include "tests/workloads/fake_step.hpp"

#include <algorithm>
#include <numeric>

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
  DdpHostCosts host;
};

Case make_case(int replicate) {
  Case made;
  made.plan.strategy = Strategy::ddp;
  made.plan.replicate = replicate;
  made.model.hidden = 512;
  return made;
}

void free_the_host(Case& what) {
  const Time none;
  what.launch = none;
  what.host = {none, none, none, none, {}};
}

StepWork work_of(const Case& what, StepCosts& costs) {
  return testing::fake_work(what.model, costs, what.launch);
}

sim::Job job_of(const Case& what) {
  StepCosts costs(what.costs);
  const StepWork work = work_of(what, costs);
  const DdpInput input{work, what.plan, what.training, what.micro_batches, what.host};
  return assemble_job(emit_ddp(input, costs), what.plan, testing::fake_cluster(what.plan.replicate),
                      costs);
}

Executed run(const Case& what) { return testing::execute_job(job_of(what)); }

std::vector<DdpBucket> buckets_of(const Case& what) {
  StepCosts costs(what.costs);
  return ddp_buckets(work_of(what, costs), what.plan, what.training);
}

std::int64_t parameters_of(const Case& what) {
  StepCosts costs(what.costs);
  const StepWork work = work_of(what, costs);
  return std::accumulate(work.parameters.begin(), work.parameters.end(), std::int64_t{0},
                         [](std::int64_t sum, const Parameter& p) { return sum + p.count(); });
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const int replicate : {2, 8, 16})
    for (const std::int64_t micro_batches : {1, 3})
      for (const bool view : {false, true})
        for (const bool tied : {false, true})
          for (const DType reduce : {DType::fp32, DType::bf16})
            for (const double latency_us : {10.0, 3000.0}) {
              Case made = make_case(replicate);
              made.micro_batches = micro_batches;
              made.plan.gradient_as_bucket_view = view;
              made.model.tied = tied;
              made.training.reduce_precision = reduce;
              made.costs.compute_us = 30;
              made.costs.latency_us = latency_us;
              cases.push_back(made);
            }
  return cases;
}

TEST_CASE("the first bucket closes at 1 MiB and the others at 25 MiB") {
  Case what = make_case(8);
  what.model.hidden = 1024;
  what.model.vocabulary = 100;
  const auto buckets = buckets_of(what);
  // Gradients become ready from the head down: head.weight is 100 × 1024 fp32 (0.39 MiB), the norm
  // 4 KiB, then the last block's out (12 MiB), which crosses the first limit.
  CHECK(buckets.front().elements == 100 * 1024 + 1024 + 3 * 1024 * 1024);
  REQUIRE(buckets.size() >= 3);
  for (std::size_t b = 1; b + 1 < buckets.size(); ++b) {
    StepCosts costs(what.costs);
    const StepWork work = work_of(what, costs);
    const std::int64_t last = work.parameters[buckets[b].parameters.back()].count();
    CHECK(buckets[b].elements * 4 >= 25 * (1 << 20));
    CHECK((buckets[b].elements - last) * 4 < 25 * (1 << 20));
  }
}

TEST_CASE("a stated bucket size holds for the first bucket too") {
  Case what = make_case(8);
  what.plan.bucket_bytes = 1;
  StepCosts costs(what.costs);
  CHECK(buckets_of(what).size() == work_of(what, costs).parameters.size());
}

TEST_CASE("buckets hold every parameter once, in reverse order of modules") {
  for (const Case& what : all_cases()) {
    StepCosts costs(what.costs);
    const StepWork work = work_of(what, costs);
    std::vector<std::uint32_t> order;
    for (const DdpBucket& bucket : ddp_buckets(work, what.plan, what.training))
      order.insert(order.end(), bucket.parameters.begin(), bucket.parameters.end());
    CHECK(order == gradient_ready_order(work));
    CHECK(order.back() == 0);  // the embedding, tied or not, is ready last
    std::sort(order.begin(), order.end());
    std::vector<std::uint32_t> all(work.parameters.size());
    std::iota(all.begin(), all.end(), 0u);
    CHECK(order == all);
  }
}

TEST_CASE("all-reduces run in the order of buckets, after their last gradient") {
  for (const Case& what : all_cases()) {
    const Executed step = run(what);
    const auto buckets = buckets_of(what);
    const auto reduces = step.named("all_reduce");
    REQUIRE(reduces.size() == buckets.size());
    const char* copy = what.plan.gradient_as_bucket_view ? "gradient_divide" : "bucket_copy_in";
    const auto copies = step.named(copy);
    std::size_t copied = 0;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
      CHECK(reduces[b].bytes == all_reduce_bytes(buckets[b], what.training));
      copied += buckets[b].parameters.size();
      CHECK(reduces[b].start >= copies[copied - 1].end);
      if (b > 0) CHECK(reduces[b].start >= reduces[b - 1].end);
    }
    CHECK(copied == copies.size());
  }
}

TEST_CASE("a step all-reduces every gradient once, whatever the micro-batches") {
  for (const Case& what : all_cases()) {
    const Bytes expected = Bytes(parameters_of(what)) * bytes_of(what.training.reduce_precision);
    CHECK(run(what).collective_bytes("all_reduce", "replicate") == expected);
  }
}

TEST_CASE("reduction overlaps the rest of backward and the optimizer waits for all of it") {
  Case what = make_case(8);
  free_the_host(what);
  what.costs.compute_us = 400;
  const Executed step = run(what);
  const auto reduces = step.named("all_reduce");
  const auto last = step.named("compute_embedding_backward");
  CHECK(reduces.front().start < last.front().start);
  CHECK(step.named("optimizer").front().start >= reduces.back().end);
}

TEST_CASE("with free communication, copies and host a data-parallel step is its compute") {
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

TEST_CASE("one data-parallel rank reduces with nobody") {
  Case what = make_case(1);
  what.micro_batches = 2;
  const Executed step = run(what);
  CHECK(step.named("all_reduce").empty());
  CHECK(step.named("bucket_copy_in").empty());
  CHECK(step.named("gradient_accumulate").size() ==
        work_of(what, *std::make_unique<StepCosts>(what.costs)).parameters.size());
}

TEST_CASE("state is 16 bytes a parameter, buckets 4 more unless gradients are views of them") {
  Case what = make_case(8);
  what.model.activation = Bytes(0);
  const std::int64_t parameters = parameters_of(what);
  what.training.precision = DType::fp32;
  const auto peak = [](const Case& each) {
    const sim::Job job = job_of(each);
    return sim::replay_memory(job.programs.front(), Bytes(1)).peak_allocated;
  };
  CHECK(peak(what) == Bytes(20 * parameters));
  what.plan.gradient_as_bucket_view = true;
  // Autograd's own tensor of the largest parameter stands beside its bucket for a moment.
  const std::int64_t largest = (3 * what.model.hidden + 1) * what.model.hidden;
  CHECK(peak(what) == Bytes(16 * parameters + 4 * largest));
}

}  // namespace
}  // namespace stepsim::workloads
