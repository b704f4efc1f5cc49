// How fast the engine executes, replays and attributes. docs/execution-model.md says what it does;
// bench/README.md how to run this and how to read it.

#include "sim/attribution.hpp"
#include "sim/executor.hpp"

#include "bench/fsdp_job.hpp"
#include "bench/pipeline_job.hpp"

#include <benchmark/benchmark.h>

namespace {

using stepsim::bench::fsdp_job;
using stepsim::bench::pipeline_job;
using stepsim::bench::PipelineShape;
using stepsim::sim::Folding;

stepsim::sim::Job job_of(const benchmark::State& state) {
  return fsdp_job({.ranks = static_cast<std::uint32_t>(state.range(0))});
}

void count_ops(benchmark::State& state, std::uint64_t ops) {
  state.counters["ops"] = static_cast<double>(ops);
  state.counters["ops/s"] =
      benchmark::Counter(static_cast<double>(ops), benchmark::Counter::kIsIterationInvariantRate);
}

void execute_job(benchmark::State& state, const stepsim::sim::Job& job, Folding folding) {
  std::uint64_t ops = 0;
  std::size_t classes = 0;
  for (auto _ : state) {
    const stepsim::sim::Execution execution = stepsim::sim::execute(job, {.folding = folding});
    benchmark::DoNotOptimize(execution.step_time);
    ops = execution.op_count;
    classes = execution.classes.count();
  }
  count_ops(state, ops);
  state.counters["classes"] = static_cast<double>(classes);
}

/// Every rank simulated, though they are alike.
void execute_fsdp(benchmark::State& state) {
  const auto ranks = static_cast<std::uint32_t>(state.range(0));
  execute_job(state, fsdp_job({.ranks = ranks, .sharing = state.range(1) != 0}), Folding::off);
}
BENCHMARK(execute_fsdp)
    ->ArgNames({"ranks", "sharing"})
    ->ArgsProduct({{8, 64, 512}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

/// Llama 3 405B's shape on range(0) × 128 GPUs: range(1) slow ranks, range(2) with sharing.
PipelineShape shape_of(const benchmark::State& state) {
  PipelineShape shape;
  shape.data = static_cast<std::uint32_t>(state.range(0));
  shape.slow_ranks = static_cast<std::uint32_t>(state.range(1));
  shape.sharing = state.range(2) != 0;
  return shape;
}

void execute_pipeline_folded(benchmark::State& state) {
  execute_job(state, pipeline_job(shape_of(state)), Folding::where_it_pays);
}
BENCHMARK(execute_pipeline_folded)
    ->ArgNames({"replicas", "slow", "sharing"})
    ->ArgsProduct({{1, 128}, {0, 1, 10}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

/// Every rank at a speed of its own.
void execute_pipeline_unfolded(benchmark::State& state) {
  PipelineShape shape = shape_of(state);
  shape.all_different = true;
  execute_job(state, pipeline_job(shape), Folding::off);
}
BENCHMARK(execute_pipeline_unfolded)
    ->ArgNames({"replicas", "slow", "sharing"})
    ->ArgsProduct({{1, 8, 128}, {0}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

void find_classes_of_pipeline(benchmark::State& state) {
  const stepsim::sim::Job job = pipeline_job(shape_of(state));
  for (auto _ : state) benchmark::DoNotOptimize(stepsim::sim::find_classes(job));
}
BENCHMARK(find_classes_of_pipeline)
    ->ArgNames({"replicas", "slow", "sharing"})
    ->ArgsProduct({{1, 128}, {0, 1, 10}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

/// The times of one rank's ops.
void replay_rank(benchmark::State& state) {
  const stepsim::sim::Job job = job_of(state);
  const stepsim::sim::Execution execution = stepsim::sim::execute(job);
  for (auto _ : state) {
    benchmark::DoNotOptimize(stepsim::sim::replay(job, execution, stepsim::sim::Rank{0}));
  }
  count_ops(state, job.programs[0].ops.size());
}
BENCHMARK(replay_rank)->Arg(8)->Unit(benchmark::kMillisecond);

void critical_path(benchmark::State& state) {
  const stepsim::sim::Job job = job_of(state);
  const stepsim::sim::Execution execution = stepsim::sim::execute(job);
  for (auto _ : state) {
    benchmark::DoNotOptimize(stepsim::sim::critical_path(job, execution));
  }
}
BENCHMARK(critical_path)->Arg(8)->Arg(512)->Unit(benchmark::kMillisecond);

void mean_time_line(benchmark::State& state) {
  const stepsim::sim::Job job = job_of(state);
  const stepsim::sim::Execution execution = stepsim::sim::execute(job);
  for (auto _ : state) {
    benchmark::DoNotOptimize(stepsim::sim::mean_time_line(job, execution));
  }
}
BENCHMARK(mean_time_line)->Arg(8)->Arg(512)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
