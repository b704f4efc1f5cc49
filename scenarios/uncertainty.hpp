#pragma once

/// How far a measured step may lie from the predicted one: from residuals of published steps that
/// were left out of the fit of the stack's coefficients, and from what sources differ by.

#include "scenarios/scenario.hpp"

#include "workloads/memory_verdict.hpp"

#include "sim/base/units.hpp"

#include <string>

namespace stepsim::scenarios {

struct StepUncertainty {
  Time low;
  Time high;
  double level = 0.8;  // share of measured steps that should lie between them
  std::string basis;   // what it rests on, in words
};

/// Whether the step is of a source whose other steps the coefficients were fitted to. Others share
/// one unknown scale (clock, library, network) of about a tenth.
enum class StepSource { known, unknown };

StepUncertainty step_uncertainty(const Scenario& scenario, Time predicted,
                                 workloads::FitVerdict memory, StepSource source);

}  // namespace stepsim::scenarios
