#include "calibrate/step_fit.hpp"

#include "tests/support/catch.hpp"

#include <cmath>
#include <random>

using namespace stepsim;
using namespace stepsim::calibrate;

namespace {

std::vector<workloads::StepCoefficient> two_coefficients() {
  return {{"gemm_time", 1, 1, 0.3, 0, ""}, {"memory_time", 1, 1, 0.3, 0, ""}};
}

// Rows of steps whose products take 1.1 and whose other kernels 1.3 of what the model says.
std::vector<StepRow> rows_of(double noise) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal(0, 1);
  std::vector<StepRow> rows;
  for (int i = 0; i < 60; ++i) {
    const double share = 0.5 + 0.4 * (i % 10) / 10;  // of products in the step
    StepRow row;
    row.slopes = {share, 1 - share};
    row.residual = -(share * std::log(1.1) + (1 - share) * std::log(1.3)) + noise * normal(random);
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

TEST_CASE("factors come back from steps made with them") {
  const StepFit fitted = fit_steps(two_coefficients(), {1, 1}, rows_of(0));
  CHECK(fitted.values[0] == Approx(1.1).epsilon(0.01));
  CHECK(fitted.values[1] == Approx(1.3).epsilon(0.01));
  for (const StepRow& row : rows_of(0))
    CHECK(residual_at(row, {1, 1}, fitted.values) == Approx(0).margin(0.003));
}

TEST_CASE("a row that is far off does not poison the fit") {
  std::vector<StepRow> rows = rows_of(0.01);
  rows[3].residual += 3;
  const StepFit fitted = fit_steps(two_coefficients(), {1, 1}, rows);
  CHECK(fitted.values[0] == Approx(1.1).epsilon(0.04));
  CHECK(fitted.values[1] == Approx(1.3).epsilon(0.08));
}

TEST_CASE("where steps say nothing about a factor it stays at its prior") {
  std::vector<StepRow> rows = rows_of(0);
  for (StepRow& row : rows) row.slopes = {1, 0};
  std::vector<workloads::StepCoefficient> coefficients = two_coefficients();
  coefficients[1].prior = 0.9;
  const StepFit fitted = fit_steps(coefficients, {1, 1}, rows);
  CHECK(fitted.values[1] == Approx(0.9).epsilon(0.001));
  CHECK(fitted.spread[1] == Approx(0.3).epsilon(0.05));
}
