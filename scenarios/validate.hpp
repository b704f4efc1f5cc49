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

/// What a prediction may rest on.
enum class Regime {
  zero_shot,   // profiles of hardware and kernels: nothing fitted to training steps
  one_number,  // zero-shot times one scale for a GPU type and stack, from a few named cases
  fitted       // with the shipped step coefficients: what `stepsim run` answers
};
const char* to_string(Regime regime);

/// A case whose step time was predicted. Times are of one step.
struct ComparedStep {
  std::string metric;  // the key of `measured` that was compared, «tokens_per_second»
  double measured = 0;
  double predicted = 0;  // in the same metric, fitted regime
  double measured_s = 0;
  double zero_shot_s = 0;
  double fitted_s = 0;
  std::optional<double> one_number_s;  // absent where the suite names no cases for a scale
  double null_s = 0;                   // by the null model
  double low_s = 0;  // between these lie 80 % of measured steps, by the prediction
  double high_s = 0;
  std::string device;
  std::string model;
  std::string stack;
  int gpus = 0;
  double ideal_s = 0;  // model FLOPs at the peak of all GPUs: what the null model divides
  workloads::FitVerdict memory = workloads::FitVerdict::fits;

  /// Step time in a regime; nothing where there is none.
  std::optional<double> predicted_s(Regime regime) const;
  /// Predicted step time / measured step time − 1, in the fitted regime.
  double error() const { return fitted_s / measured_s - 1; }
  bool inside_interval() const { return measured_s >= low_s && measured_s <= high_s; }
  double null_error() const { return null_s / measured_s - 1; }
};

/// A case whose memory was measured, or that was seen to run out of it.
struct ComparedMemory {
  std::optional<Bytes> measured;  // peak
  Bytes predicted;                // of the same kind
  bool ran_out = false;           // measured
  workloads::FitVerdict verdict = workloads::FitVerdict::fits;
};

/// A case of a suite with what became of it: comparisons, a reason why it is left out, or what is
/// wrong with it.
struct CaseResult {
  std::string suite;
  std::string id;
  Use use = Use::check;
  bool gives_scale = false;  // one of the suite's scale_from
  std::string excluded;
  std::vector<std::string> problems;
  std::optional<ComparedStep> step;
  std::optional<ComparedMemory> memory;
};

struct ValidationOptions {
  int threads = 1;
  std::vector<std::string> without;  // mechanisms to leave out (scenarios/ablation.hpp)
  /// Called after every case, from any thread but never from two at a time.
  std::function<void(std::size_t done, std::size_t all)> progress;
};

/// Every case of the suites, in their order whatever the number of threads.
std::vector<CaseResult> validate(const DataDirectory& data, const std::vector<Suite>& suites,
                                 const ValidationOptions& options);

/// One case: reads its scenario and predicts it, without some mechanisms.
CaseResult validate_case(const DataDirectory& data, const Suite& suite, const SuiteCase& suite_case,
                         const std::vector<std::string>& without);

/// Fits the null model to the compared cases: one utilisation of the peak for each GPU type, the
/// one with the least mean absolute error on these same cases, and sets null_s.
void add_null_model(std::vector<CaseResult>& results);

/// Sets one_number_s: for the cases of a suite on one GPU type and stack, zero-shot times the
/// median of measured over predicted among those of them that give the scale.
void add_one_number(std::vector<CaseResult>& results);

}  // namespace stepsim::scenarios
