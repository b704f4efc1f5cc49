#include "workloads/checkpointing.hpp"

#include "tests/support/catch.hpp"
#include "tests/workloads/fake_step.hpp"

#include <algorithm>

namespace stepsim::workloads {
namespace {

// a: norm output, saved; b: product output, saved; c: element-wise of b, saved (input of the last
// product); the output comes from kernel 3, a product, by way of kernel 4, an addition.
ModuleWork example() {
  ModuleWork work;
  work.forward.resize(5);
  work.forward[1].role = KernelRole::matrix_product;
  work.forward[3].role = KernelRole::matrix_product;
  work.backward.resize(2);
  using sim::BufferKind;
  work.activations = {{"a", BufferKind::activations, Bytes(1), 0, 1, 1},
                      {"b", BufferKind::activations, Bytes(10), 1, 2, 0},
                      {"c", BufferKind::activations, Bytes(100), 2, 3, 0},
                      {"d", BufferKind::activations, Bytes(1000), 3, 4, std::nullopt}};
  work.input_size = Bytes(10000);
  work.output_written_by = 4;
  return work;
}

using Kernels = std::vector<std::uint32_t>;

TEST_CASE("without checkpointing a module keeps what backward needs and runs nothing twice") {
  const ModuleWork work = example();
  CHECK(saved_bytes(work, Recompute::nothing) == Bytes(10111));
  CHECK(recomputed_kernels(work, Recompute::nothing, EarlyStop::yes).empty());
  CHECK(schedule_module(work, Recompute::nothing, EarlyStop::yes).recomputation.empty());
}

TEST_CASE("full checkpointing keeps the input and stops at the last tensor backward needs") {
  const ModuleWork work = example();
  CHECK(saved_bytes(work, Recompute::everything) == Bytes(10000));
  CHECK(recomputed_kernels(work, Recompute::everything, EarlyStop::yes) == Kernels{0, 1, 2});
  CHECK(recomputed_kernels(work, Recompute::everything, EarlyStop::no) == Kernels{0, 1, 2, 3, 4});
}

TEST_CASE("selective checkpointing keeps every second product, needed or not, and attention") {
  ModuleWork work = example();
  // The first product (b) is kept, the second (d) is not, and a and c run again up to c.
  CHECK(saved_bytes(work, Recompute::selected_ops) == Bytes(10010));
  CHECK(recomputed_kernels(work, Recompute::selected_ops, EarlyStop::yes) == Kernels{0, 2});
  CHECK(recomputed_kernels(work, Recompute::selected_ops, EarlyStop::no) == Kernels{0, 2, 3, 4});
  // As the third product d is kept although backward has no use for it.
  work.forward[2].role = KernelRole::matrix_product;
  CHECK(saved_bytes(work, Recompute::selected_ops) == Bytes(11010));
  CHECK(recomputed_kernels(work, Recompute::selected_ops, EarlyStop::yes) == Kernels{0, 2});
  work.forward[2].role = KernelRole::attention;
  CHECK(saved_bytes(work, Recompute::selected_ops) == Bytes(10110));
  CHECK(recomputed_kernels(work, Recompute::selected_ops, EarlyStop::yes) == Kernels{0});
}

TEST_CASE("dropping attention matrices touches nothing else") {
  ModuleWork work = example();
  CHECK(saved_bytes(work, Recompute::attention_matrices) == Bytes(10111));
  work.forward[2].role = KernelRole::attention_matrix;
  CHECK(saved_bytes(work, Recompute::attention_matrices) == Bytes(10011));
  CHECK(recomputed_kernels(work, Recompute::attention_matrices, EarlyStop::yes) == Kernels{2});
}

TEST_CASE("every activation is freed as often as it is allocated, whatever is recomputed") {
  const ModuleWork work = example();
  for (const Recompute recompute : {Recompute::nothing, Recompute::selected_ops,
                                    Recompute::attention_matrices, Recompute::everything})
    for (const EarlyStop early_stop : {EarlyStop::yes, EarlyStop::no}) {
      const ModuleSchedule schedule = schedule_module(work, recompute, early_stop);
      std::vector<int> held(work.activations.size(), 0);
      for (const auto* actions : {&schedule.forward, &schedule.recomputation, &schedule.backward})
        for (const Action& action : *actions) {
          if (action.kind == ActionKind::allocate_activation) CHECK(++held[action.index] == 1);
          if (action.kind == ActionKind::free_activation) CHECK(--held[action.index] == 0);
        }
      CHECK(std::all_of(held.begin(), held.end(), [](int n) { return n == 0; }));
    }
}

TEST_CASE("checkpointed blocks step longer by what they recompute and hold less before backward") {
  const auto run = [](Recompute recompute) {
    testing::FakeModel model;
    model.recompute = recompute;
    testing::ConstantCosts source;
    source.copy_us = source.latency_us = source.gigabytes_per_second = 0;
    StepCosts costs(source);
    const StepWork work = testing::fake_work(model, costs, Time::zero());
    const Time none;
    const Plan plan;
    const Training training;
    const Fsdp2Input input{
        work, plan, training, 1, {none, none, none, none, none, none, none, none, none, {}}};
    return testing::execute_job(
        assemble_job(emit_fsdp2(input, costs), plan, testing::fake_cluster(1), costs));
  };
  const Time plain = run(Recompute::nothing).execution.step_time;
  // Norm and first product of six blocks run again; the last product is stopped early.
  CHECK(run(Recompute::everything).execution.step_time == plain + Time::microseconds(100) * 2 * 6);
  CHECK(run(Recompute::selected_ops).execution.step_time == plain + Time::microseconds(100) * 6);
}

}  // namespace
}  // namespace stepsim::workloads
