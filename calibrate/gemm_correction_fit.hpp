#pragma once

/// Fits the grid of ratios that a GEMM model leaves unexplained (workloads/gemm_correction.hpp).

#include "workloads/gemm_correction.hpp"
#include "workloads/kernel.hpp"

#include <cstdint>
#include <vector>

namespace stepsim::calibrate {

/// measured / predicted of one shape.
struct Ratio {
  workloads::Gemm gemm;
  double value = 1;
};

struct CorrectionOptions {
  double smoothness = 0.04;       // weight of a step between neighbours an octave apart
  double shrinkage = 0.01;        // weight of a node's distance from «no correction»
  double shared_shrinkage = 2;    // the same of what all nodes of a row share
  double residual_spread = 0.06;  // ratios further off than a few of these are outliers
  int robust_rounds = 3;
};

struct CorrectionAxes {
  std::vector<std::int64_t> m, n, k;
};

/// Penalised least squares: the grid whose interpolation follows the ratios, with steps between
/// neighbouring nodes and distance from 1 held small, and outliers discounted (Cauchy weights).
workloads::GemmCorrection fit_correction(const std::vector<Ratio>& ratios,
                                         const CorrectionAxes& axes,
                                         const CorrectionOptions& options);

}  // namespace stepsim::calibrate
