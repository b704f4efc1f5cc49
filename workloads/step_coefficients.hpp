#pragma once

/// What kernels take inside training steps over what benchmarks of single kernels say: clocks that
/// hours of load hold, library versions, kernels that a byte list lacks. A few factors for each
/// generation of GPUs and software stack, in one file (workloads/step_coefficients.yaml), fitted to
/// published steps by `stepsim validate --refit`; docs/accuracy.md says how.

#include "topology/device.hpp"

#include "sim/base/data_directory.hpp"

#include <string>
#include <vector>

namespace stepsim::workloads {

/// Factors of times. All 1: benchmarks alone, nothing fitted to steps.
struct StepCoefficients {
  double gemm_time = 1;       // matrix products
  double attention_time = 1;  // flash attention; unfused attention has its products' and softmax's
  double memory_time = 1;     // kernels that move bytes
  double interference = 1;    // what collectives beside a kernel add to it
  /// Not of the file: what a power limit below the data sheet's leaves of the clock.
  double clock_share = 1;
};

/// Power grows with the clock's square to cube where voltage follows it, and a part of it does not
/// depend on the clock: the square root lies between. Assumed; published: an A100 with 300 W has
/// 0.93 of the product rate of one with 400 W (stas00/ml-engineering).
double clock_share_of(double power_limit_watts, double datasheet_watts);

/// One factor, as the file has it.
struct StepCoefficient {
  std::string name;         // «gemm_time»
  double value = 1;         // fitted, or the prior where the data say nothing
  double prior = 1;         // before any step was looked at
  double prior_spread = 0;  // of log(value / prior), one standard deviation
  double spread = 0;        // of log(value) after the fit, one standard deviation
  std::string evidence;     // what the prior rests on
};

/// The factors of one generation and stack.
struct StepCoefficientSet {
  topology::Architecture generation = topology::Architecture::ampere;
  std::string stack;  // «fsdp-eager»
  std::vector<StepCoefficient> coefficients;
  std::string fitted_to;             // «32 rows of 8 models», or why nothing was fitted
  std::vector<std::string> sources;  // suites whose steps it was fitted to
  /// Tenth and ninetieth percentile of measured / predicted on models left out of the fit; both 0
  /// where nothing was fitted.
  double interval_low = 0;
  double interval_high = 0;
};

struct StepCoefficientFile {
  std::vector<StepCoefficientSet> sets;
  std::string file;
  std::string hash;
};

/// Throws InputError with every problem of the file.
StepCoefficientFile load_step_coefficients(const DataDirectory& data);
StepCoefficientFile read_step_coefficients(const std::string& file);

/// The set of a generation and stack; nullptr when there is none.
const StepCoefficientSet* find_set(const StepCoefficientFile& file,
                                   topology::Architecture generation, const std::string& stack);

/// The values of a set, and a field of them by name; throws InternalError for a name there is not.
StepCoefficients values_of(const StepCoefficientSet& set);
double& field_of(StepCoefficients& coefficients, const std::string& name);
/// Names of all factors, in the order of the file.
const std::vector<std::string>& step_coefficient_names();

}  // namespace stepsim::workloads
