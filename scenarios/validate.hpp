#pragma once

/// Suites of measured runs against what the simulator predicts for them.

#include "scenarios/suite.hpp"

#include "workloads/memory_verdict.hpp"

#include "sim/base/data_directory.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace stepsim::scenarios {

/// A case that was predicted. Times are of one step.
struct ComparedStep {
  std::string metric;  // the key of `measured` that was compared, «tokens_per_second»
  double measured = 0;
  double predicted = 0;  // in the same metric
  double measured_s = 0;
  double predicted_s = 0;
  double null_s = 0;  // by the null model: see add_null_model
  std::string device;
  std::string model;
  int gpus = 0;
  double ideal_s = 0;  // model FLOPs at the peak of all GPUs: what the null model divides
  workloads::FitVerdict memory = workloads::FitVerdict::fits;

  /// Predicted step time / measured step time − 1.
  double error() const { return predicted_s / measured_s - 1; }
  double null_error() const { return null_s / measured_s - 1; }
};

/// A case of a suite with what became of it: a comparison, a reason why it is left out, or what is
/// wrong with it.
struct CaseResult {
  std::string suite;
  std::string id;
  Use use = Use::check;
  std::string stack;
  std::string excluded;
  std::vector<std::string> problems;
  std::optional<ComparedStep> step;
};

struct ValidationOptions {
  int threads = 1;
  /// Called after every case, from any thread but never from two at a time.
  std::function<void(std::size_t done, std::size_t all)> progress;
};

/// Every case of the suites, in their order whatever the number of threads.
std::vector<CaseResult> validate(const DataDirectory& data, const std::vector<Suite>& suites,
                                 const ValidationOptions& options);

/// Fits the null model to the compared cases: one utilisation of the peak for each GPU type, the
/// one with the least mean absolute error on these same cases, and sets null_s.
void add_null_model(std::vector<CaseResult>& results);

}  // namespace stepsim::scenarios
