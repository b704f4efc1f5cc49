#include "workloads/roofline.hpp"

#include "sim/base/error.hpp"

#include "tests/support/catch.hpp"

using namespace stepsim;
using namespace stepsim::workloads;

TEST_CASE("a roofline sets work against the rates it is asked for", "[roofline]") {
  const Kernel kernel{"gemm", Gemm{8192, 28672, 8192}, 1};
  const Roofline line = roofline(kernel, {989e12, 3.35e12});
  CHECK(line.flops == 2.0 * 8192 * 28672 * 8192);
  CHECK(line.bytes == 2.0 * (8192.0 * 8192 + 8192.0 * 28672 + 8192.0 * 28672));
  CHECK(line.intensity == line.flops / line.bytes);
  CHECK(line.compute_s == line.flops / 989e12);
  CHECK(line.clock == sim::Clock::compute);
  CHECK(line.bound_s() == line.compute_s);
}

TEST_CASE("below the ridge memory is the clock, above it arithmetic", "[roofline]") {
  const RooflineRates rates{1000, 10};
  CHECK(rates.ridge() == 100);
  for (const double flops : {99.0, 101.0}) {
    const Kernel kernel{"", Streaming{StreamingKind::elementwise, 1, 0, flops}, 1};
    const bool memory = roofline(kernel, rates).clock == sim::Clock::memory;
    CHECK(memory == (flops < rates.ridge()));
  }
}

TEST_CASE("a roofline without rates is refused", "[roofline]") {
  const Kernel kernel{"gemm", Gemm{1, 1, 1}, 1};
  CHECK_THROWS_AS(roofline(kernel, {0, 1}), RangeError);
  CHECK_THROWS_AS(roofline(kernel, {1, -1}), RangeError);
}

TEST_CASE("a predicted multiplication reaches at most its roofline", "[roofline]") {
  const DataDirectory data = DataDirectory::find();
  const KernelCostModel model(data, topology::load_device(data, "h100-sxm-80gb"));
  for (const Gemm& gemm : {Gemm{8192, 8192, 8192}, Gemm{1, 8192, 8192}, Gemm{64, 64, 64}}) {
    const GemmRoofline line = gemm_roofline(model, gemm);
    CHECK(line.predicted.total_s >= line.bound.bound_s());
    CHECK(line.compute_share <= 1);
    CHECK(line.bandwidth_share <= 1);
    CHECK(line.candidate.tile.m > 0);
  }
  CHECK(gemm_roofline(model, {8192, 8192, 8192}).compute_share > 0.7);
}
