// What was measured becomes a step time to compare with.

#include "scenarios/resolve_scenario.hpp"

#include "workloads/recompute_flops.hpp"

#include "topology/peak_flop_rate.hpp"

#include "sim/base/parse_quantity.hpp"

namespace stepsim::scenarios {

namespace {

using workloads::FlopsConvention;

bool has_metric(const MeasuredSpec& spec) {
  return spec.step_time || spec.tokens_per_second || spec.tokens_per_second_per_gpu ||
         spec.model_flops_per_second_per_gpu || spec.hardware_flops_per_second_per_gpu ||
         spec.mfu || spec.hfu;
}

bool has_memory(const MeasuredSpec& spec) { return spec.peak_memory.value || spec.out_of_memory; }

bool has_flops(const MeasuredSpec& spec) {
  return spec.mfu || spec.hfu || spec.model_flops_per_second_per_gpu ||
         spec.hardware_flops_per_second_per_gpu;
}

bool check_keys(const MeasuredSpec& spec, KeyProblems& problems) {
  if (!has_metric(spec) && !has_memory(spec)) {
    problems.refuse("measured", "has no measurement",
                    "step_time, tokens_per_second, tokens_per_second_per_gpu, "
                    "model_flops_per_second_per_gpu, hardware_flops_per_second_per_gpu, mfu, hfu, "
                    "peak_memory or out_of_memory");
    return false;
  }
  if (spec.step_time == Time::zero()) {
    problems.refuse("measured.step_time", "is 0", "a time above 0");
    return false;
  }
  if (spec.peak_memory.value.has_value() != spec.peak_memory.kind.has_value())
    problems.refuse("measured.peak_memory", "is not complete", "both value and kind");
  if (spec.peak && !spec.mfu && !spec.hfu)
    problems.refuse("measured.peak", "makes no sense without mfu or hfu");
  if (spec.flops_convention && !has_flops(spec)) {
    problems.refuse("measured.flops_convention",
                    "makes no sense without mfu, hfu or FLOPs a second");
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
  if (spec.model_flops_per_second_per_gpu) return "model_flops_per_second_per_gpu";
  if (spec.hardware_flops_per_second_per_gpu) return "hardware_flops_per_second_per_gpu";
  return spec.mfu ? "mfu" : "hfu";
}

// From the most direct metric that was given.
double step_time_s(const MeasuredSpec& spec, const Scenario& scenario) {
  const double tokens = static_cast<double>(scenario.training.global_batch) *
                        static_cast<double>(scenario.training.sequence_length);
  const double gpus = scenario.cluster.gpus;
  if (spec.step_time) return spec.step_time->seconds();
  if (spec.tokens_per_second) return tokens / *spec.tokens_per_second;
  if (spec.tokens_per_second_per_gpu) return tokens / (*spec.tokens_per_second_per_gpu * gpus);
  const FlopsConvention convention =
      spec.flops_convention.value_or(FlopsConvention::full_attention);
  const bool model_flops = spec.model_flops_per_second_per_gpu || spec.mfu;
  const double flops =
      tokens * (model_flops ? workloads::training_flops_per_token(
                                  scenario.model, scenario.training.sequence_length, convention)
                            : workloads::nominal_hardware_flops_per_token(
                                  scenario.model, scenario.training, convention));
  const std::optional<FlopRate>& rate =
      model_flops ? spec.model_flops_per_second_per_gpu : spec.hardware_flops_per_second_per_gpu;
  if (rate) return flops / (rate->flops_per_second() * gpus);
  const double share = model_flops ? *spec.mfu : *spec.hfu;
  return flops / (share * peak_flops(spec, scenario.cluster.node.device) * gpus);
}

}  // namespace

void resolve_measured(const MeasuredSpec& spec, KeyProblems& problems, Scenario& scenario) {
  if (!check_keys(spec, problems)) return;
  scenario.measured = Measured{{}, spec.source.value_or(""), spec};
  if (!has_metric(spec)) return;
  const double seconds = step_time_s(spec, scenario);
  if (seconds < least_step_s || seconds > most_step_s) {
    problems.refuse(std::string("measured.") + metric_of(spec),
                    "means a step of " + format_number(seconds) + " s",
                    "a step of 1 us to 100 days");
    scenario.measured.reset();
    return;
  }
  scenario.measured->step_time_s = seconds;
}

}  // namespace stepsim::scenarios
