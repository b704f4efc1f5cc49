#include "calibrate/gemm_correction_fit.hpp"

#include "tests/support/catch.hpp"

#include <cmath>

using namespace stepsim::calibrate;
using stepsim::workloads::Gemm;
using stepsim::workloads::GemmCorrection;

namespace {

const CorrectionAxes axes{{64, 256, 1024, 4096}, {64, 256, 1024, 4096}, {64, 256, 1024, 4096}};

std::vector<Ratio> everywhere(double value) {
  std::vector<Ratio> ratios;
  for (const auto m : axes.m)
    for (const auto n : axes.n)
      for (const auto k : axes.k) ratios.push_back({Gemm{m, n, k}, value});
  return ratios;
}

}  // namespace

TEST_CASE("a grid follows the ratios it is given", "[gemm_correction_fit]") {
  const GemmCorrection grid = fit_correction(everywhere(1.2), axes, CorrectionOptions{});
  CHECK(grid.factor(256, 256, 256) == Approx(1.2).margin(0.01));
  CHECK(grid.factor(500, 90, 3000) == Approx(1.2).margin(0.01));
}

TEST_CASE("no ratios mean no correction", "[gemm_correction_fit]") {
  const GemmCorrection grid = fit_correction({}, axes, CorrectionOptions{});
  CHECK(grid.factor(256, 256, 256) == 1);
}

TEST_CASE("a single spike is discounted", "[gemm_correction_fit]") {
  std::vector<Ratio> ratios;
  for (int repeat = 0; repeat < 5; ++repeat)
    for (const Ratio& ratio : everywhere(1.05)) ratios.push_back(ratio);
  ratios.front().value = 2.5;
  const GemmCorrection grid = fit_correction(ratios, axes, CorrectionOptions{});
  CHECK(std::abs(grid.factor(64, 64, 64) - 1.05) < 0.02);
}

TEST_CASE("what a row shares reaches shapes that were not measured", "[gemm_correction_fit]") {
  std::vector<Ratio> ratios;
  for (Ratio ratio : everywhere(1)) {
    if (ratio.gemm.m == 1024 && ratio.gemm.n == 1024) continue;
    if (ratio.gemm.k == 4096) ratio.value = 1.2;
    ratios.push_back(ratio);
  }
  const GemmCorrection grid = fit_correction(ratios, axes, CorrectionOptions{});
  CHECK(grid.factor(1024, 1024, 4096) > 1.1);
  CHECK(grid.factor(1024, 1024, 256) < 1.05);
}
