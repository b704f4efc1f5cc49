#include "scenarios/simulate.hpp"

#include "scenarios/cost_models.hpp"
#include "scenarios/goodput.hpp"
#include "scenarios/noise.hpp"
#include "scenarios/range_problems.hpp"
#include "scenarios/simulate_memory.hpp"
#include "scenarios/slow_parts.hpp"

#include "workloads/kernel_cost.hpp"
#include "workloads/step.hpp"

#include "topology/collective.hpp"
#include "topology/peak_flop_rate.hpp"

#include "sim/executor.hpp"

#include "sim/base/error.hpp"

#include <algorithm>
#include <chrono>
#include <string>

namespace stepsim::scenarios {

namespace {

double peak_of_utilisation(const topology::Device& device) {
  const double peak = topology::utilisation_peak(device).flops_per_second;
  if (peak > 0) return peak;
  throw InputError(Diagnostic{{device.file},
                              "peak",
                              "the device has no dense bf16 or fp16 peak, which "
                              "MFU is a share of",
                              "a device with such a peak",
                              ""});
}

void add_rates(StepResult& result, const Scenario& scenario, const workloads::Step& step) {
  const double seconds = result.step_time.seconds();
  const double gpus = static_cast<double>(step.job.ranks.size());
  const double tokens = static_cast<double>(scenario.training.global_batch) *
                        static_cast<double>(scenario.training.sequence_length);
  const double flops_per_token = workloads::training_flops_per_token(
      scenario.model, scenario.training.sequence_length, scenario.flops_convention);
  result.peak_flops_per_second = peak_of_utilisation(scenario.cluster.node.device);
  result.tokens_per_second = tokens / seconds;
  result.tokens_per_second_per_gpu = result.tokens_per_second / gpus;
  result.model_flops_per_second_per_gpu = flops_per_token * result.tokens_per_second_per_gpu;
  result.mfu = result.model_flops_per_second_per_gpu / result.peak_flops_per_second;
  const double hardware_flops =
      workloads::hardware_flops(step.hardware_flops, scenario.flops_convention);
  result.hfu = hardware_flops / seconds / result.peak_flops_per_second;
}

std::optional<double> error_against(const std::optional<Measured>& measured, Time predicted) {
  if (!measured || !measured->step_time_s) return std::nullopt;
  return predicted.seconds() / *measured->step_time_s - 1;
}

/// Finds the distribution over seeds, and gives the job the noise of the median one.
void add_noise(StepResult& result, const Scenario& scenario, const SimulateOptions& options,
               sim::Job& job) {
  if (!scenario.noise) return;
  result.distribution =
      step_distribution(*scenario.noise, job, execution_options(options), options.threads);
  result.seed = result.distribution->median_seed;
  apply_noise(*scenario.noise, result.seed, job);
}

StepResult::Simulation simulation_of(const sim::Job& job, const sim::Execution& execution) {
  StepResult::Simulation simulation;
  simulation.ranks = static_cast<std::int64_t>(job.ranks.size());
  simulation.classes = static_cast<std::int64_t>(execution.classes.count());
  simulation.simulated_ranks = execution.simulated_ranks;
  simulation.executor = sim::shares_resources(job) ? "time_order" : "run_ahead";
  simulation.ops = execution.op_count;
  return simulation;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

StepResult simulate(const DataDirectory& data, const Scenario& scenario,
                    const SimulateOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const CostModels models(data, scenario);
  const workloads::StepInput input = models.input(scenario);
  workloads::Step step = workloads::build_step(input);
  apply_slow_parts(scenario, step.job);
  StepResult result;
  add_noise(result, scenario, options, step.job);
  const sim::Execution execution = sim::execute(step.job, execution_options(options));

  result.step_time = execution.step_time;
  add_rates(result, scenario, step);
  result.critical_path = sim::critical_path(step.job, execution);
  result.contributions = path_contributions(step.job, result.critical_path);
  result.added = added_times(scenario, step.job, result.critical_path);
  result.time_line = sim::mean_time_line(step.job, execution);
  result.memory = memory_with_remedy(data, scenario, input, step);
  result.uncertainty = step_uncertainty(scenario, result.step_time, result.memory.report().verdict,
                                        StepSource::unknown);
  result.measured_error = error_against(scenario.measured, result.step_time);
  result.profiles = models.profiles(scenario);
  result.assumptions = models.assumptions(scenario, step);
  if (scenario.reliability)
    result.goodput = goodput_of(*scenario.reliability, scenario.cluster, options.threads);
  result.simulation = simulation_of(step.job, execution);
  result.simulation.threads = options.threads;
  result.simulation.wall_s = seconds_since(start);
  return result;
}

}  // namespace

sim::ExecutionOptions execution_options(const SimulateOptions& options) {
  return {.folding = options.fold ? sim::Folding::where_it_pays : sim::Folding::off};
}

StepResult simulate_step(const DataDirectory& data, const Scenario& scenario,
                         const SimulateOptions& options) {
  return within_range(scenario, [&] { return simulate(data, scenario, options); });
}

StepPrediction predict_step(const DataDirectory& data, const Scenario& scenario) {
  const CostModels models(data, scenario);
  const workloads::StepInput input = models.input(scenario);
  workloads::Step step = workloads::build_step(input);
  apply_slow_parts(scenario, step.job);
  return {sim::execute(step.job).step_time, memory_of(input, step).report()};
}

}  // namespace stepsim::scenarios
