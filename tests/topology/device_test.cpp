#include "topology/device.hpp"

#include "topology/peak_flop_rate.hpp"

#include "sim/base/error.hpp"

#include "tests/support/catch.hpp"

#include <algorithm>

using namespace stepsim;
using namespace stepsim::topology;

namespace {

DataDirectory shipped() { return DataDirectory(STEPSIM_SOURCE_DIRECTORY); }

template <class Value>
void check_sourced(const Sourced<Value>& number) {
  CHECK_FALSE(number.source.note.empty());
}

}  // namespace

TEST_CASE("every device that ships can be read and is named like its file", "[device]") {
  const std::vector<std::string> names = device_names(shipped());
  for (const char* name : {"a100-sxm-40gb", "a100-sxm-80gb", "b200-sxm-180gb", "gb200",
                           "h100-pcie-80gb", "h100-sxm-80gb", "h200-sxm-141gb"}) {
    INFO(name);
    CHECK(std::find(names.begin(), names.end(), name) != names.end());
  }
  for (const std::string& name : names) {
    INFO(name);
    const Device device = load_device(shipped(), name);
    CHECK(device.name == name);
    CHECK(device.hash.size() == 16);
    CHECK(device.peak.count(MatrixFormat::bf16) == 1);
    CHECK(device.streaming_multiprocessors.value >= 80);
    check_sourced(device.memory_capacity);
    check_sourced(device.memory_bandwidth);
    for (const auto& [format, rate] : device.peak) check_sourced(rate);
  }
}

TEST_CASE("a GPU's usable memory is within a tenth of what its datasheet prints", "[device]") {
  // Drivers count in GiB and keep some for ECC and themselves, so either may be the larger.
  for (const std::string& name : device_names(shipped())) {
    INFO(name);
    const Device device = load_device(shipped(), name);
    const double ratio = device.memory_capacity.value.gib() * 1.073741824 /
                         (static_cast<double>(device.memory_nominal.value.count()) * 1e-9);
    CHECK(ratio > 0.9);
    CHECK(ratio < 1.1);
  }
}

TEST_CASE("an H100 has its datasheet's rates", "[device]") {
  const Device device = load_device(shipped(), "h100-sxm-80gb");
  CHECK(device.peak.at(MatrixFormat::bf16).value.flops_per_second() == Approx(989e12));
  CHECK(device.memory_bandwidth.value.gigabytes_per_second() == Approx(3350));
  CHECK(device.memory_capacity.value.gib() == Approx(79.15));
  CHECK(device.memory_nominal.value == Bytes(80'000'000'000));
  CHECK(device.streaming_multiprocessors.value == 132);
  CHECK(device.compute_capability == 90);
  CHECK(device.boost_clock_hz.value == Approx(1.98e9));
}

TEST_CASE("an unknown device is refused with the nearest one", "[device]") {
  try {
    load_device(shipped(), "h100-smx-80gb");
    FAIL("accepted a device that does not exist");
  } catch (const InputError& error) {
    REQUIRE(error.diagnostics().size() == 1);
    CHECK(error.diagnostics()[0].suggestion == "h100-sxm-80gb");
  }
}

TEST_CASE("a device name cannot leave its folder", "[device]") {
  CHECK_THROWS_AS(load_device(shipped(), "../nodes/dgx-h100"), InputError);
  CHECK_THROWS_AS(load_device(shipped(), ""), InputError);
}

TEST_CASE(
    "utilisation is a share of the dense bf16 peak, or of fp16's where only that has tensor "
    "cores") {
  Device device;
  CHECK(utilisation_peak(device).flops_per_second == 0);
  device.peak[MatrixFormat::bf16] = {FlopRate::teraflops(989), {}};
  device.peak[MatrixFormat::fp16] = {FlopRate::teraflops(989), {}};
  CHECK(utilisation_peak(device).format == MatrixFormat::bf16);
  device.peak[MatrixFormat::bf16] = {FlopRate::teraflops(15.7), {}};
  device.peak[MatrixFormat::fp16] = {FlopRate::teraflops(125), {}};
  CHECK(utilisation_peak(device).format == MatrixFormat::fp16);
  CHECK(utilisation_peak(device).flops_per_second == Approx(125e12));
}
