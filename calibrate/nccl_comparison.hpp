#pragma once

/// A log of nccl-tests against what the collective model expects of the cluster: ratio by size, a
/// verdict, and when it is far off, simulated reasons ranked by how well they fit.

#include "calibrate/nccl_suspects.hpp"

#include "sim/base/data_directory.hpp"

#include <optional>
#include <string>
#include <vector>

namespace stepsim::calibrate {

/// What the user says of the run; what is left open is taken from the log, or refused.
struct MeasuredRun {
  topology::Node node;
  std::optional<int> nodes;
  std::optional<int> gpus;  // in all
  topology::NcclSettings nccl;
};

enum class CurveVerdict { as_expected, slow, fast };
const char* to_string(CurveVerdict verdict);

struct ComparedSize {
  Bytes bytes;
  double measured_us = 0;
  double measured_gb_per_s = 0;  // bus bandwidth, as nccl-tests counts it
  double expected_us = 0;
  double expected_gb_per_s = 0;
  double ratio = 0;       // measured bandwidth over expected
  std::string algorithm;  // that NCCL is expected to take, such as «ring/Simple»
  bool assumed = false;   // the expectation rests on a number nobody measured
};

struct NcclComparison {
  MeasuredGroup measured;
  std::vector<CurvePoint> curve;
  std::vector<ComparedSize> sizes;  // of the curve's points
  CurveVerdict verdict = CurveVerdict::as_expected;
  Bytes large_from;           // smallest message that says what the wires carry
  double large_ratio = 1;     // mean ratio from there on
  double expected_error = 0;  // weighted mean |ln(measured / expected)|
  /// Time that small messages take beyond what is expected, where it is much; a suspect of its own.
  std::optional<Suspect> launch;
  std::vector<Suspect>
      suspects;            // of a verdict that is not as_expected: those that fit, best first
  bool explained = false;  // the first of them fits well
  std::vector<std::string> notes;
};

/// Throws InputError when the run cannot be the one the log shows, or is not said well enough.
NcclComparison compare_nccl_tests(const DataDirectory& data, const NcclTestsLog& log,
                                  const MeasuredRun& run);

}  // namespace stepsim::calibrate
