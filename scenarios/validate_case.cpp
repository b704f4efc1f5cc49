// One case of a suite: its scenario is read, predicted and set against what was measured.

#include "scenarios/ablation.hpp"
#include "scenarios/simulate.hpp"
#include "scenarios/uncertainty.hpp"
#include "scenarios/validate.hpp"

#include "topology/peak_flop_rate.hpp"

#include "sim/base/error.hpp"

#include <algorithm>
#include <new>
#include <tuple>
#include <utility>

namespace stepsim::scenarios {

namespace {

double tokens_per_step(const Scenario& scenario) {
  return static_cast<double>(scenario.training.global_batch) *
         static_cast<double>(scenario.training.sequence_length);
}

// The metric that is compared, of the first that is given, as resolve_measured takes them.
std::pair<const char*, double> metric_of(const MeasuredSpec& spec) {
  if (spec.step_time) return {"step_time_s", spec.step_time->seconds()};
  if (spec.tokens_per_second) return {"tokens_per_second", *spec.tokens_per_second};
  if (spec.tokens_per_second_per_gpu)
    return {"tokens_per_second_per_gpu", *spec.tokens_per_second_per_gpu};
  if (spec.model_flops_per_second_per_gpu)
    return {"model_flops_per_second_per_gpu",
            spec.model_flops_per_second_per_gpu->flops_per_second()};
  if (spec.mfu) return {"mfu", *spec.mfu};
  if (spec.hardware_flops_per_second_per_gpu)
    return {"hardware_flops_per_second_per_gpu",
            spec.hardware_flops_per_second_per_gpu->flops_per_second()};
  return {"hfu", spec.hfu.value_or(0)};
}

double zero_shot_s(const DataDirectory& data, const Scenario& scenario, double fitted_s) {
  if (!scenario.step_coefficients) return fitted_s;
  Scenario benchmarks_alone = scenario;
  benchmarks_alone.step_coefficients.reset();
  return predict_step(data, benchmarks_alone).step_time.seconds();
}

StepSource source_of(const Suite& suite, const Scenario& scenario) {
  if (!scenario.step_coefficients) return StepSource::unknown;
  const std::vector<std::string>& sources = scenario.step_coefficients->sources;
  const bool known = std::find(sources.begin(), sources.end(), suite.name) != sources.end();
  return known ? StepSource::known : StepSource::unknown;
}

ComparedStep compare_step(const DataDirectory& data, const Suite& suite, const Scenario& scenario,
                          const StepPrediction& prediction) {
  ComparedStep step;
  std::tie(step.metric, step.measured) = metric_of(scenario.measured->as_written);
  step.measured_s = *scenario.measured->step_time_s;
  step.fitted_s = prediction.step_time.seconds();
  step.zero_shot_s = zero_shot_s(data, scenario, step.fitted_s);
  // All other metrics are rates, and so inverse to the time.
  step.predicted = step.metric == "step_time_s" ? step.fitted_s
                                                : step.measured * step.measured_s / step.fitted_s;
  const topology::Device& device = scenario.cluster.node.device;
  step.device = device.name;
  step.model = scenario.model.name;
  step.stack = scenario.stack;
  const StepUncertainty uncertainty = step_uncertainty(
      scenario, prediction.step_time, prediction.memory.verdict, source_of(suite, scenario));
  step.low_s = uncertainty.low.seconds();
  step.high_s = uncertainty.high.seconds();
  step.gpus = scenario.cluster.gpus;
  const double peak = topology::utilisation_peak(device).flops_per_second;
  const double flops =
      tokens_per_step(scenario) *
      workloads::training_flops_per_token(scenario.model, scenario.training.sequence_length,
                                          workloads::FlopsConvention::full_attention);
  step.ideal_s = peak > 0 ? flops / (peak * step.gpus) : 0;
  step.memory = prediction.memory.verdict;
  return step;
}

Bytes peak_of_kind(const workloads::MemoryReport& report, PeakMemoryKind kind) {
  switch (kind) {
    case PeakMemoryKind::allocated:
      return report.peak_allocated;
    case PeakMemoryKind::reserved:
      return report.peak_reserved;
    case PeakMemoryKind::device:
      return report.peak_reserved + report.outside;
  }
  return report.peak_allocated;
}

std::optional<ComparedMemory> compare_memory(const MeasuredSpec& spec,
                                             const workloads::MemoryReport& report) {
  if (!spec.peak_memory.value && !spec.out_of_memory) return {};
  ComparedMemory memory;
  memory.measured = spec.peak_memory.value;
  memory.predicted =
      peak_of_kind(report, spec.peak_memory.kind.value_or(PeakMemoryKind::allocated));
  memory.ran_out = spec.out_of_memory.value_or(false);
  memory.verdict = report.verdict;
  return memory;
}

void compare(const DataDirectory& data, const Suite& suite, const SuiteCase& suite_case,
             const std::vector<std::string>& without, CaseResult& result) {
  Scenario scenario = scenario_of(data, suite_case);
  for (const std::string& mechanism : without) leave_out(mechanism, scenario);
  if (!scenario.measured) {
    throw InputError(Diagnostic{suite_case.where, "measured", "is missing",
                                "a block with what was measured", ""});
  }
  const StepPrediction prediction = predict_step(data, scenario);
  if (scenario.measured->step_time_s) result.step = compare_step(data, suite, scenario, prediction);
  result.memory = compare_memory(scenario.measured->as_written, prediction.memory);
}

}  // namespace

CaseResult validate_case(const DataDirectory& data, const Suite& suite, const SuiteCase& suite_case,
                         const std::vector<std::string>& without) {
  CaseResult result;
  result.suite = suite.name;
  result.id = suite_case.id;
  result.use = suite_case.use;
  result.gives_scale = std::find(suite.scale_from.begin(), suite.scale_from.end(), suite_case.id) !=
                       suite.scale_from.end();
  result.excluded = suite_case.excluded;
  if (!suite_case.excluded.empty()) return result;
  try {
    compare(data, suite, suite_case, without, result);
  } catch (const InputError& error) {
    for (const Diagnostic& diagnostic : error.diagnostics())
      result.problems.push_back(diagnostic.to_string());
  } catch (const RangeError& error) {
    result.problems.push_back(std::string("outside what can be simulated: ") + error.what());
  } catch (const std::bad_alloc&) {
    result.problems.push_back("not enough memory to simulate this");
  }
  return result;
}

}  // namespace stepsim::scenarios
