#pragma once

/// Fits the few factors of workloads/step_coefficients.yaml to the `fit` cases of suites, with
/// priors, and says how well what was fitted predicts models and sources that were left out of it.

#include "scenarios/suite.hpp"
#include "scenarios/validation_summary.hpp"

#include "workloads/step_coefficients.hpp"

#include "sim/base/data_directory.hpp"

#include <string>
#include <vector>

namespace stepsim::scenarios {

/// What became of one generation and stack.
struct RefitGroup {
  workloads::StepCoefficientSet set;
  std::size_t rows = 0;
  std::size_t models = 0;
  ErrorSummary unfitted;        // with the priors' values
  ErrorSummary in_sample;       // fitted to all rows
  ErrorSummary without_model;   // each model predicted by a fit to the others
  ErrorSummary without_source;  // each suite likewise; empty where there is one
  std::string ridge;            // the factors that trade against each other most
  bool accepted = false;        // better than the priors on models left out
};

/// Every set of `file` again: its priors stay; values, spreads and intervals are fitted where `fit`
/// cases of its generation and stack are there, and stay at the priors where none are or where the
/// fit is no better on models left out.
std::vector<RefitGroup> refit(const DataDirectory& data, const std::vector<Suite>& suites,
                              const workloads::StepCoefficientFile& file, int threads);

/// As the file writes it: «hopper».
std::string generation_name(topology::Architecture generation);

/// The text of workloads/step_coefficients.yaml.
std::string step_coefficients_text(const std::vector<RefitGroup>& groups);

}  // namespace stepsim::scenarios
