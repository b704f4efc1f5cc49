#include "workloads/kernel_sharing.hpp"

#include "workloads/kernel_cost.hpp"
#include "workloads/kernel_profile.hpp"

#include "tests/support/catch.hpp"

#include <memory>

using namespace stepsim;
using namespace stepsim::workloads;

namespace {

const DataDirectory data = DataDirectory::find();

KernelCostModel h100() { return {data, topology::load_device(data, "h100-sxm-80gb")}; }

const TakenLevels levels{{4, 8, 16, 24, 32}, {100, 200, 400}};

Kernel large_gemm() { return {"gemm", Gemm{16384, 8192, 8192}, 1}; }
Kernel streaming() { return {"norm", Streaming{StreamingKind::norm, 1e9, 1e9, 0}, 1}; }
Kernel attention() { return {"attention", Attention{1, 8192, 8192, 32, 8, 128}, 1}; }

double speed_at(const std::vector<sim::SpeedStep>& steps, std::uint32_t taken) {
  double speed = 1;
  for (const sim::SpeedStep& step : steps)
    if (step.taken <= taken) speed = step.speed / double(sim::SpeedStep::full_speed);
  return speed;
}

std::shared_ptr<const KernelProfile> scaled_profile(double sms, double memory) {
  auto profile = std::make_shared<KernelProfile>(h100().profile());
  profile->interference.sm_contention.value = sms;
  profile->interference.memory_contention.value = memory;
  return profile;
}

sim::CollectiveCost taking(std::uint32_t sms, std::uint32_t memory) {
  sim::CollectiveCost cost;
  cost.sms = sms;
  cost.memory_thousandths = memory;
  return cost;
}

}  // namespace

TEST_CASE("a large multiplication of many waves slows by the SMs that are gone",
          "[kernel_sharing]") {
  const auto sharing = h100().sharing(large_gemm(), levels);
  for (const std::uint32_t taken : levels.sms)
    CHECK(speed_at(sharing.by_sms_taken, taken) == Approx((132.0 - taken) / 132).epsilon(0.02));
}

TEST_CASE("a multiplication of fewer tiles than SMs are left does not slow", "[kernel_sharing]") {
  const Kernel small{"gemm", Gemm{256, 256, 256}, 1};
  const KernelCostModel model = h100();
  const GemmTime picked = model.gemm_candidate(std::get<Gemm>(small.work));
  REQUIRE(picked.waves == 1);
  REQUIRE(picked.split_k * (256 / picked.tile.m) * (256 / picked.tile.n) <= 100);
  CHECK(speed_at(model.sharing(small, levels).by_sms_taken, 24) > 0.99);
}

TEST_CASE("a multiplication bound by arithmetic hardly feels the bandwidth, one of few rows does",
          "[kernel_sharing]") {
  const KernelCostModel model = h100();
  CHECK(speed_at(model.sharing(large_gemm(), levels).by_memory_taken, 200) > 0.98);
  const Kernel decode{"gemm", Gemm{1, 8192, 8192}, 1};
  CHECK(speed_at(model.sharing(decode, levels).by_memory_taken, 200) == Approx(0.8).epsilon(0.06));
}

TEST_CASE("a kernel that moves bytes gets the bandwidth that is left and needs no certain SMs",
          "[kernel_sharing]") {
  const auto sharing = h100().sharing(streaming(), levels);
  CHECK(sharing.by_sms_taken.empty());
  CHECK(speed_at(sharing.by_memory_taken, 400) == Approx(0.6).epsilon(0.01));
}

TEST_CASE("attention slows by SMs, unfused attention also by bandwidth", "[kernel_sharing]") {
  CHECK(speed_at(h100().sharing(attention(), levels).by_sms_taken, 24) ==
        Approx(108.0 / 132).epsilon(0.04));
  const KernelCostModel unfused(data, topology::load_device(data, "h100-sxm-80gb"),
                                AttentionKernel::unfused);
  CHECK(speed_at(unfused.sharing(attention(), levels).by_memory_taken, 400) < 0.8);
}

TEST_CASE("speeds never rise with what is taken, and are in the engine's range",
          "[kernel_sharing]") {
  for (const std::string& name : topology::device_names(data)) {
    const KernelCostModel model(data, topology::load_device(data, name));
    TakenLevels all;
    for (std::uint32_t i = 1; i <= 40; ++i) {
      all.sms.push_back(8 * i);  // more than any device has
      all.memory_thousandths.push_back(50 * i);
    }
    for (const Kernel& kernel : {large_gemm(), streaming(), attention()}) {
      const auto sharing = model.sharing(kernel, all);
      for (const auto* steps : {&sharing.by_sms_taken, &sharing.by_memory_taken}) {
        for (std::size_t i = 0; i < steps->size(); ++i) {
          CHECK((*steps)[i].speed >= 1);
          CHECK((*steps)[i].speed < (i == 0 ? sim::SpeedStep::full_speed : (*steps)[i - 1].speed));
        }
      }
    }
  }
}

TEST_CASE("the profile's factors scale the time that is added, and switch it off",
          "[kernel_sharing]") {
  const topology::Device device = topology::load_device(data, "h100-sxm-80gb");
  const auto off = KernelCostModel(device, scaled_profile(0, 0)).sharing(large_gemm(), levels);
  CHECK(off.by_sms_taken.empty());
  CHECK(off.by_memory_taken.empty());
  const double once = speed_at(h100().sharing(large_gemm(), levels).by_sms_taken, 24);
  const auto twice = KernelCostModel(device, scaled_profile(2, 1)).sharing(large_gemm(), levels);
  CHECK(speed_at(twice.by_sms_taken, 24) == Approx(1 / (2 / once - 1)).epsilon(1e-3));
}

TEST_CASE("levels are what the collectives of each group take, alone and together",
          "[kernel_sharing]") {
  sim::Job job;
  job.communicators.push_back({"shard", {{0}, {1}}, 0, {}});
  job.communicators.push_back({"replicate", {{0}, {2}}, 1, {}});
  job.communicators.push_back({"shard", {{2}, {3}}, 0, {}});
  job.collective_costs = {{taking(16, 100), taking(24, 210)}, {taking(4, 30), {}}};
  const TakenLevels taken = taken_levels(job);
  CHECK(taken.sms == std::vector<std::uint32_t>{4, 16, 20, 24, 28});
  CHECK(taken.memory_thousandths == std::vector<std::uint32_t>{30, 100, 130, 210, 240});
}

TEST_CASE("a great many levels are thinned, the highest kept", "[kernel_sharing]") {
  sim::Job job;
  job.communicators.push_back({"shard", {{0}, {1}}, 0, {}});
  job.collective_costs.emplace_back();
  for (std::uint32_t i = 1; i <= 500; ++i) job.collective_costs[0].push_back(taking(0, i));
  const TakenLevels taken = taken_levels(job);
  CHECK(taken.sms.empty());
  CHECK(taken.memory_thousandths.size() <= 64);
  CHECK(taken.memory_thousandths.back() == 500);
}
