#include "scenarios/uncertainty.hpp"

#include "scenarios/ablation.hpp"

#include "sim/base/error.hpp"

#include "tests/scenarios/scenario_text.hpp"
#include "tests/support/catch.hpp"

using namespace stepsim;
using namespace stepsim::scenarios;
using workloads::FitVerdict;

TEST_CASE("the interval is wider for unknown sources, unfitted stacks and at the edge of memory") {
  Scenario scenario = load_text(scenario_text());
  workloads::StepCoefficientSet set;
  set.interval_low = 0.95;
  set.interval_high = 1.07;
  set.fitted_to = "9 steps of 3 models";
  scenario.step_coefficients = set;
  const Time step = Time::from_seconds(10);
  const auto range = [&](FitVerdict memory, StepSource source) {
    return step_uncertainty(scenario, step, memory, source);
  };
  const StepUncertainty known = range(FitVerdict::fits, StepSource::known);
  CHECK(known.low.seconds() == Approx(9.5));
  CHECK(known.high.seconds() == Approx(10.7));
  CHECK(known.level == 0.8);
  const StepUncertainty unknown = range(FitVerdict::fits, StepSource::unknown);
  CHECK(unknown.low < known.low);
  CHECK(unknown.high > known.high);
  const StepUncertainty edge = range(FitVerdict::tight, StepSource::known);
  CHECK(edge.low == known.low);
  CHECK(edge.high.seconds() == Approx(10.7 * 1.25));
  scenario.step_coefficients.reset();
  const StepUncertainty unfitted = range(FitVerdict::fits, StepSource::known);
  CHECK(unfitted.high > unknown.high);
  CHECK(unfitted.basis.find("nothing was fitted") != std::string::npos);
}

TEST_CASE("a mechanism that is left out is gone from the scenario; others are named") {
  Scenario scenario = load_text(scenario_text());
  leave_out("interference", scenario);
  leave_out("recompute", scenario);
  CHECK_FALSE(scenario.software.interference);
  CHECK(scenario.training.activation_checkpointing == workloads::CheckpointKind::none);
  CHECK_THROWS_AS(check_mechanism("interferense"), InputError);
  for (const Mechanism& each : mechanisms()) {
    Scenario changed = load_text(scenario_text());
    CHECK_NOTHROW(leave_out(each.name, changed));
  }
}
