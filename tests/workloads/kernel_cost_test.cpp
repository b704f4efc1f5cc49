#include "workloads/kernel_cost.hpp"

#include "workloads/kernel_profile.hpp"

#include "sim/base/error.hpp"

#include "tests/support/catch.hpp"

#include <cmath>
#include <limits>

using namespace stepsim;
using namespace stepsim::workloads;

namespace {

const DataDirectory data = DataDirectory::find();

topology::Device device(const std::string& name) { return topology::load_device(data, name); }

Kernel gemm(std::int64_t m, std::int64_t n, std::int64_t k,
            topology::MatrixFormat format = topology::MatrixFormat::bf16) {
  return {"gemm", Gemm{m, n, k, 1, format}, 1};
}

Kernel causal(std::int64_t length, std::int64_t head_dim) {
  return {"attention", Attention{1, length, length, 32, 8, head_dim}, 1};
}

}  // namespace

TEST_CASE("every device that ships has kernel costs", "[kernel_cost]") {
  for (const std::string& name : topology::device_names(data)) {
    CAPTURE(name);
    const KernelCostModel model(data, device(name));
    const double time = model.time(gemm(8192, 8192, 8192)).total_s;
    CHECK(std::isfinite(time));
    CHECK(time > 0);
  }
}

TEST_CASE("a measured device's matrix multiplications rest on no assumption", "[kernel_cost]") {
  for (const char* name : {"a100-sxm-80gb", "h100-sxm-80gb", "b200-sxm-180gb"}) {
    const KernelTime time = KernelCostModel(data, device(name)).time(gemm(4096, 4096, 4096));
    CHECK_FALSE(time.assumed);
    CHECK(time.source.find("fitted") == 0);
  }
}

TEST_CASE("a device without measurements inherits its generation's and says so", "[kernel_cost]") {
  const KernelTime time =
      KernelCostModel(data, device("h100-pcie-80gb")).time(gemm(8192, 8192, 8192));
  CHECK(time.assumed);
  CHECK(time.source.find("h100-sxm-80gb") != std::string::npos);
  CHECK(time.total_s >
        KernelCostModel(data, device("h100-sxm-80gb")).time(gemm(8192, 8192, 8192)).total_s);
}

TEST_CASE("nothing on a shipped device beats its datasheet", "[kernel_cost]") {
  for (const std::string& name : topology::device_names(data)) {
    const KernelCostModel model(data, device(name));
    const double peak =
        model.device().peak.at(topology::MatrixFormat::bf16).value.flops_per_second();
    const double bandwidth = model.device().memory_bandwidth.value.bytes_per_second();
    for (const std::int64_t m : {1, 16, 100, 1024, 8192, 65536}) {
      for (const std::int64_t n : {32, 1024, 28672, 128256}) {
        for (const std::int64_t k : {64, 4096, 28672, 131072}) {
          const Kernel kernel = gemm(m, n, k);
          CAPTURE(name, m, n, k);
          CHECK(model.time(kernel).total_s >= flops(kernel) / peak);
          CHECK(model.time(kernel).total_s >= minimum_bytes(kernel) / bandwidth);
        }
      }
    }
    for (const std::int64_t length : {128, 2048, 131072})
      CHECK(model.time(causal(length, 128)).total_s >= flops(causal(length, 128)) / peak);
  }
}

TEST_CASE("operands that start in HBM cost at least what a benchmark loop measures",
          "[kernel_cost]") {
  const KernelCostModel model(data, device("h100-sxm-80gb"));
  for (const std::int64_t m : {1, 128, 8192})
    CHECK(model.time(gemm(m, 1024, 1024), Setting::step).total_s >=
          model.time(gemm(m, 1024, 1024), Setting::benchmark).total_s);
}

TEST_CASE("fp8 arithmetic is refused where the device has none", "[kernel_cost]") {
  const KernelCostModel model(data, device("a100-sxm-80gb"));
  CHECK_THROWS_AS(model.time(gemm(128, 128, 128, topology::MatrixFormat::fp8)), InputError);
  CHECK(KernelCostModel(data, device("h100-sxm-80gb"))
            .time(gemm(8192, 8192, 8192, topology::MatrixFormat::fp8))
            .total_s <
        KernelCostModel(data, device("h100-sxm-80gb")).time(gemm(8192, 8192, 8192)).total_s);
}

TEST_CASE("a cost is whole picoseconds with its slowest clock", "[kernel_cost]") {
  const KernelCostModel model(data, device("h100-sxm-80gb"));
  const sim::KernelCost large = model.cost(gemm(8192, 28672, 8192));
  CHECK(large.clock == sim::Clock::compute);
  CHECK(large.category == "gemm");
  CHECK(large.time.seconds() == Approx(model.time(gemm(8192, 28672, 8192)).total_s));
  CHECK(large.fixed < large.time);
  CHECK(model.cost(gemm(1, 28672, 8192)).clock == sim::Clock::memory);
  CHECK(model.cost(gemm(1, 64, 64)).clock == sim::Clock::overhead);
}

TEST_CASE("kernels that move bytes take longer in proportion, above their start", "[kernel_cost]") {
  const KernelCostModel model(data, device("h100-sxm-80gb"));
  const auto time = [&](double bytes, int launches) {
    return model.time({"add", Streaming{StreamingKind::elementwise, bytes, bytes}, launches});
  };
  const double once = time(1e9, 1).total_s;
  CHECK(time(2e9, 1).total_s - once == Approx(once - time(0, 1).total_s));
  CHECK(time(0, 5).total_s == Approx(5 * time(0, 1).total_s));
  CHECK(once >= 2e9 / model.device().memory_bandwidth.value.bytes_per_second());
}

TEST_CASE("kernel generations and unfused attention differ as stated", "[kernel_cost]") {
  const auto with = [](AttentionKernel kernel, const Kernel& work) {
    return KernelCostModel(data, device("h100-sxm-80gb"), kernel).time(work).total_s;
  };
  const Kernel work = causal(8192, 128);
  CHECK(with(AttentionKernel::flash2, work) > with(AttentionKernel::flash3, work));
  CHECK(with(AttentionKernel::unfused, work) > with(AttentionKernel::flash2, work));
  Kernel backward = work;
  std::get<Attention>(backward.work).backward = true;
  CHECK(with(AttentionKernel::flash3, backward) == Approx(3 * with(AttentionKernel::flash3, work)));
  CHECK(with(AttentionKernel::unfused, backward) > with(AttentionKernel::unfused, work));
}

TEST_CASE("a head dimension nobody measured is assumed", "[kernel_cost]") {
  const KernelCostModel h100(data, device("h100-sxm-80gb"), AttentionKernel::flash3);
  const AttentionProfile& profile = h100.profile().attention;
  CHECK(efficiency_of(profile.coefficients, 128).measured);
  CHECK_FALSE(efficiency_of(profile.coefficients, 80).measured);
  CHECK_FALSE(efficiency_of(profile.coefficients, 1024).measured);
  const KernelCostModel a100(data, device("a100-sxm-80gb"));
  CHECK_FALSE(efficiency_of(a100.profile().attention.coefficients, 64).measured);
  CHECK(a100.time(causal(2048, 64)).assumed);
}
