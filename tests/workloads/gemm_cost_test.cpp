#include "workloads/gemm_cost.hpp"

#include "workloads/gemm_correction.hpp"
#include "workloads/p_norm.hpp"

#include "tests/support/catch.hpp"

#include <cmath>

using namespace stepsim::workloads;

namespace {

// Made up, round, and of no device.
const GemmMachine machine{100, 100, 800e12, 3e12, 50e6};

const std::vector<Gemm> shapes{{1, 4096, 4096},       {7, 32, 64},          {128, 65536, 1024},
                               {4096, 4096, 4096},    {8192, 28672, 8192},  {65536, 128, 8192},
                               {2048, 2048, 65536},   {1000, 1000, 1000},   {512, 512, 128, 96},
                               {16384, 16384, 16384}, {128256, 8192, 8192}, {1, 1, 1}};

double total(const Gemm& gemm, const GemmMachine& on, Setting setting = Setting::step) {
  return gemm_time(gemm, on, GemmCoefficients{}, setting).total_s;
}

}  // namespace

TEST_CASE("two overlapping clocks take between their maximum and their sum", "[gemm_cost]") {
  CHECK(overlapped(3, 4, 1) == 5);
  CHECK(overlapped(4, 3, 1) == 5);
  CHECK(overlapped(2, 2, 2) == 2 * std::sqrt(std::sqrt(2.0)));
  CHECK(overlapped(0, 7, 3) == 7);
  CHECK(overlapped(0, 0, 2) == 0);
}

TEST_CASE("no multiplication beats the datasheet's roofline", "[gemm_cost]") {
  for (const Gemm& gemm : shapes) {
    const Kernel kernel{"", gemm};
    CAPTURE(gemm.m, gemm.n, gemm.k);
    CHECK(total(gemm, machine) >= flops(kernel) / machine.peak_flops_per_s);
    CHECK(total(gemm, machine) >= minimum_bytes(kernel) / machine.memory_bytes_per_s);
    CHECK(total(gemm, machine, Setting::benchmark) >= flops(kernel) / machine.peak_flops_per_s);
  }
}

TEST_CASE("operands found in the L2 never slow a multiplication", "[gemm_cost]") {
  for (const Gemm& gemm : shapes)
    CHECK(total(gemm, machine, Setting::benchmark) <= total(gemm, machine));
}

TEST_CASE("a longer k loop is never faster", "[gemm_cost]") {
  for (const Gemm& gemm : shapes) {
    Gemm longer = gemm;
    for (int step = 0; step < 6; ++step) {
      const double before = total(longer, machine);
      longer.k += longer.k / 3 + 1;
      CHECK(total(longer, machine) >= before);
    }
  }
}

TEST_CASE("more SMs or more bandwidth never slow a fixed candidate", "[gemm_cost]") {
  const GemmCoefficients coefficients;
  for (const Gemm& gemm : shapes) {
    for (const Tile tile : common_tiles()) {
      double previous = 1e30;
      for (const int available : {20, 50, 84, 100}) {
        GemmMachine fewer = machine;
        fewer.available_sms = available;
        const double time =
            gemm_time_with(gemm, fewer, coefficients, Setting::step, tile, 1).total_s;
        CAPTURE(gemm.m, gemm.n, gemm.k, tile.m, tile.n, available);
        CHECK(time <= previous);
        previous = time;
      }
      GemmMachine wider = machine;
      wider.memory_bytes_per_s *= 1.5;
      CHECK(gemm_time_with(gemm, wider, coefficients, Setting::step, tile, 1).total_s <= previous);
    }
  }
}

TEST_CASE("the chosen candidate is the fastest", "[gemm_cost]") {
  const GemmCoefficients coefficients;
  for (const Gemm& gemm : shapes) {
    const GemmTime best = gemm_time(gemm, machine, coefficients, Setting::step);
    const GemmTime same =
        gemm_time_with(gemm, machine, coefficients, Setting::step, best.tile, best.split_k);
    CHECK(same.total_s == best.total_s);
    for (const Tile tile : common_tiles())
      CHECK(gemm_time_with(gemm, machine, coefficients, Setting::step, tile, 1).total_s >=
            best.total_s);
  }
}

TEST_CASE("one tile more than the SMs hold costs part of a wave", "[gemm_cost]") {
  GemmCoefficients coefficients;
  const auto waves = [&](std::int64_t rows, double quantisation) {
    coefficients.wave_quantisation = quantisation;
    return gemm_time_with({rows * 128, 128, 4096}, machine, coefficients, Setting::benchmark,
                          {128, 128}, 1)
        .waves;
  };
  CHECK(waves(100, 1) == 1);
  CHECK(waves(101, 1) == 2);
  CHECK(waves(101, 0) == 1.01);
  CHECK(waves(101, 0.5) == Approx(1.505));
  CHECK(waves(1, 0) == 1);
}

TEST_CASE("a split k loop fills the device when the output is small", "[gemm_cost]") {
  const GemmTime best =
      gemm_time({128, 128, 65536}, machine, GemmCoefficients{}, Setting::benchmark);
  CHECK(best.split_k > 1);
  const GemmTime wide =
      gemm_time({8192, 8192, 8192}, machine, GemmCoefficients{}, Setting::benchmark);
  CHECK(wide.split_k == 1);
}

TEST_CASE("an accumulating multiplication moves its fp32 output twice", "[gemm_cost]") {
  const Gemm plain{1024, 1024, 64};
  Gemm accumulating = plain;
  accumulating.accumulates = true;
  const GemmCoefficients c;
  const double difference =
      gemm_time_with(accumulating, machine, c, Setting::step, {128, 128}, 1).memory_bytes -
      gemm_time_with(plain, machine, c, Setting::step, {128, 128}, 1).memory_bytes;
  CHECK(difference == 1024.0 * 1024 * (8 - 2));
}

TEST_CASE("the piecewise linear logarithm is exact at powers of two", "[gemm_correction]") {
  CHECK(linear_log2(1) == 0);
  CHECK(linear_log2(2) == 1);
  CHECK(linear_log2(3) == 1.5);
  CHECK(linear_log2(65536) == 16);
  CHECK(std::abs(linear_log2(1449) - std::log2(1449.0)) < 0.09);
}

TEST_CASE("a correction interpolates between its nodes and stays at its ends beyond them",
          "[gemm_correction]") {
  const GemmCorrection correction{{128, 256}, {128, 256}, {64, 1024}, {0, 10, 0, 10, 4, 14, 4, 14}};
  CHECK(correction.factor(128, 128, 64) == 1.0);
  CHECK(correction.factor(256, 256, 1024) == Approx(1.14));
  CHECK(correction.factor(128, 200, 256) == Approx(1.05));
  CHECK(correction.factor(192, 128, 64) == Approx(1.02));
  CHECK(correction.factor(1 << 20, 1, 1 << 20) == Approx(1.14));
  CHECK(correction.covers(192, 192, 1024));
  CHECK_FALSE(correction.covers(192, 192, 1025));
  CHECK(GemmCorrection{}.factor(1, 2, 3) == 1);
}
