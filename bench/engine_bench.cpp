// How fast the engine executes, replays and attributes. docs/execution-model.md says what it does;
// bench/README.md how to run this and how to read it.

#include "sim/attribution.hpp"
#include "sim/executor.hpp"

#include "bench/fsdp_job.hpp"

#include <benchmark/benchmark.h>

namespace {

using stepsim::bench::fsdp_job;

stepsim::sim::Job job_of(const benchmark::State& state) {
  return fsdp_job({.ranks = static_cast<std::uint32_t>(state.range(0))});
}

void count_ops(benchmark::State& state, std::uint64_t ops) {
  state.counters["ops"] = static_cast<double>(ops);
  state.counters["ops/s"] =
      benchmark::Counter(static_cast<double>(ops), benchmark::Counter::kIsIterationInvariantRate);
}

/// Every rank simulated.
void execute_fsdp(benchmark::State& state) {
  const stepsim::sim::Job job = job_of(state);
  std::uint64_t ops = 0;
  for (auto _ : state) {
    const stepsim::sim::Execution execution = stepsim::sim::execute(job);
    benchmark::DoNotOptimize(execution.step_time);
    ops = execution.op_count;
  }
  count_ops(state, ops);
}
BENCHMARK(execute_fsdp)->Arg(8)->Arg(64)->Arg(512)->Unit(benchmark::kMillisecond);

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
