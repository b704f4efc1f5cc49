#include "calibrate/gemm_fit.hpp"

#include "calibrate/kernel_priors.hpp"

#include "tests/support/catch.hpp"

#include <vector>

using namespace stepsim;
using namespace stepsim::calibrate;
using namespace stepsim::workloads;

namespace {

const GemmMachine machine{100, 100, 800e12, 3e12, 50e6};

GemmCoefficients prior() {
  return gemm_prior(topology::Architecture::hopper, topology::MatrixFormat::bf16);
}

std::vector<GemmMeasurement> made_with(const GemmCoefficients& coefficients) {
  std::vector<GemmMeasurement> rows;
  for (const std::int64_t m : {1, 16, 128, 1024, 4096, 16384})
    for (const std::int64_t n : {64, 512, 2048, 8192, 16384})
      for (const std::int64_t k : {64, 512, 2048, 8192, 16384}) {
        const Gemm gemm{m, n, k};
        rows.push_back(
            {"made up", gemm, gemm_time(gemm, machine, coefficients, Setting::benchmark).total_s});
      }
  return rows;
}

}  // namespace

TEST_CASE("a fit recovers the coefficients that made its data", "[gemm_fit]") {
  GemmCoefficients truth = prior();
  truth.launch_s = 4e-6;
  truth.math_efficiency = 0.7;
  truth.memory_efficiency = 0.75;
  truth.feed_bytes_per_s_per_sm = 90e9;
  const FitResult result = fit_gemm(made_with(truth), machine, prior(), FitOptions{});
  const GemmCoefficients found = with_values(prior(), result.values);
  CHECK(found.launch_s == Approx(truth.launch_s).epsilon(0.1));
  CHECK(found.math_efficiency == Approx(truth.math_efficiency).epsilon(0.05));
  CHECK(found.memory_efficiency == Approx(truth.memory_efficiency).epsilon(0.05));
  CHECK(found.feed_bytes_per_s_per_sm == Approx(truth.feed_bytes_per_s_per_sm).epsilon(0.1));
}

TEST_CASE("fitted efficiencies stay physical whatever the data say", "[gemm_fit]") {
  std::vector<GemmMeasurement> rows = made_with(prior());
  for (GemmMeasurement& row : rows) row.time_s /= 3;
  const GemmCoefficients found =
      with_values(prior(), fit_gemm(rows, machine, prior(), FitOptions{}).values);
  CHECK(found.math_efficiency <= 1);
  CHECK(found.memory_efficiency <= 1);
  CHECK(found.l2_share <= 1);
}

TEST_CASE("a sample keeps to the bands it is drawn from", "[gemm_fit]") {
  const std::vector<GemmMeasurement> rows = made_with(prior());
  const auto chosen = sample(rows, 50);
  CHECK(chosen.size() <= 50);
  CHECK(chosen.size() > 40);
  CHECK(sample(rows, 100'000).size() == rows.size());
}

TEST_CASE("only the benchmark of fp8 has a quantisation to fit", "[gemm_fit]") {
  const GemmCoefficients fp8 =
      gemm_prior(topology::Architecture::hopper, topology::MatrixFormat::fp8);
  CHECK(gemm_parameters(fp8).size() == gemm_parameters(prior()).size() + 2);
  const Gemm gemm{1024, 1024, 1024, 1, topology::MatrixFormat::fp8};
  CHECK(gemm_time(gemm, machine, fp8, Setting::benchmark).total_s >
        gemm_time(gemm, machine, fp8, Setting::step).total_s);
}
