// What was measured becomes a step time to compare with.

#include "scenarios/resolve_scenario.hpp"

#include "topology/peak_flop_rate.hpp"

#include "sim/base/parse_quantity.hpp"

namespace stepsim::scenarios {

namespace {

bool has_metric(const MeasuredSpec& spec) {
  return spec.step_time || spec.tokens_per_second || spec.tokens_per_second_per_gpu ||
         spec.model_flops_per_second_per_gpu || spec.mfu;
}

bool check_keys(const MeasuredSpec& spec, KeyProblems& problems) {
  if (!has_metric(spec)) {
    problems.refuse("measured", "has no measurement",
                    "step_time, tokens_per_second, tokens_per_second_per_gpu, "
                    "model_flops_per_second_per_gpu or mfu");
    return false;
  }
  if (spec.step_time == Time::zero()) {
    problems.refuse("measured.step_time", "is 0", "a time above 0");
    return false;
  }
  if (spec.peak && !spec.mfu) problems.refuse("measured.peak", "makes no sense without mfu");
  if (spec.flops_convention && !spec.mfu && !spec.model_flops_per_second_per_gpu) {
    problems.refuse("measured.flops_convention",
                    "makes no sense without mfu or model_flops_per_second_per_gpu");
  }
  return true;
}

double peak_flops(const MeasuredSpec& spec, const topology::Device& device) {
  if (spec.peak) return spec.peak->flops_per_second();
  return topology::utilisation_peak(device).flops_per_second;
}

// Beyond these somebody slipped in a unit or an exponent.
constexpr double least_step_s = 1e-6;
constexpr double most_step_s = 100 * 86'400.0;

// The most direct that was given.
const char* metric_of(const MeasuredSpec& spec) {
  if (spec.step_time) return "step_time";
  if (spec.tokens_per_second) return "tokens_per_second";
  if (spec.tokens_per_second_per_gpu) return "tokens_per_second_per_gpu";
  return spec.model_flops_per_second_per_gpu ? "model_flops_per_second_per_gpu" : "mfu";
}

// From the most direct metric that was given.
double step_time_s(const MeasuredSpec& spec, const Scenario& scenario) {
  const double tokens = static_cast<double>(scenario.training.global_batch) *
                        static_cast<double>(scenario.training.sequence_length);
  const double gpus = scenario.cluster.gpus;
  if (spec.step_time) return spec.step_time->seconds();
  if (spec.tokens_per_second) return tokens / *spec.tokens_per_second;
  if (spec.tokens_per_second_per_gpu) return tokens / (*spec.tokens_per_second_per_gpu * gpus);
  const double flops =
      tokens * workloads::training_flops_per_token(
                   scenario.model, scenario.training.sequence_length,
                   spec.flops_convention.value_or(workloads::FlopsConvention::full_attention));
  if (spec.model_flops_per_second_per_gpu) {
    return flops / (spec.model_flops_per_second_per_gpu->flops_per_second() * gpus);
  }
  return flops / (*spec.mfu * peak_flops(spec, scenario.cluster.node.device) * gpus);
}

}  // namespace

void resolve_measured(const MeasuredSpec& spec, KeyProblems& problems, Scenario& scenario) {
  if (!check_keys(spec, problems)) return;
  const double seconds = step_time_s(spec, scenario);
  if (seconds < least_step_s || seconds > most_step_s) {
    problems.refuse(std::string("measured.") + metric_of(spec),
                    "means a step of " + format_number(seconds) + " s",
                    "a step of 1 us to 100 days");
    return;
  }
  scenario.measured = Measured{seconds, spec.source.value_or(""), spec};
}

}  // namespace stepsim::scenarios
