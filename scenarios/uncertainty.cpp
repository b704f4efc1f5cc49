#include "scenarios/uncertainty.hpp"

#include <algorithm>
#include <cmath>

namespace stepsim::scenarios {

namespace {

/// Standard deviations that hold 80 % of a normal distribution.
constexpr double spreads_of_80_percent = 1.2816;
/// Of the one scale that all steps of a source share (docs/accuracy.md).
constexpr double between_sources = 0.09;
/// Of steps of a stack and generation to which nothing was fitted, beside that scale.
constexpr double without_fit = 0.12;
/// What a step may take longer when the allocator has to give memory back to go on: see
/// workloads::FitVerdict::tight.
constexpr double memory_edge = 0.25;

}  // namespace

StepUncertainty step_uncertainty(const Scenario& scenario, Time predicted,
                                 workloads::FitVerdict memory, StepSource source) {
  const auto& set = scenario.step_coefficients;
  const bool fitted = set && set->interval_high > set->interval_low;
  double centre = 1;
  double half = spreads_of_80_percent * without_fit;
  StepUncertainty uncertainty;
  uncertainty.basis = "nothing was fitted to steps of " + scenario.stack;
  if (fitted) {
    centre = (set->interval_low + set->interval_high) / 2;
    half = (set->interval_high - set->interval_low) / 2;
    uncertainty.basis = "by " + set->fitted_to + " left out in turn";
  }
  if (source == StepSource::unknown || !fitted) {
    const double scale = spreads_of_80_percent * between_sources;
    half = std::sqrt(half * half + scale * scale);
    uncertainty.basis += ", one scale a source";
  }
  double high = centre + half;
  if (memory != workloads::FitVerdict::fits) {
    high *= 1 + memory_edge;
    uncertainty.basis += "; at the edge of memory up to 25 % slower";
  }
  uncertainty.low = Time::from_seconds(predicted.seconds() * std::max(0.1, centre - half));
  uncertainty.high = Time::from_seconds(predicted.seconds() * high);
  return uncertainty;
}

}  // namespace stepsim::scenarios
