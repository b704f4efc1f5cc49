#include "workloads/step_coefficients.hpp"

#include "workloads/hf_config.hpp"
#include "workloads/kernel_cost.hpp"
#include "workloads/recompute_flops.hpp"

#include "sim/base/error.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/temporary_path.hpp"

#include <filesystem>
#include <fstream>
#include <set>

using namespace stepsim;
using namespace stepsim::workloads;

namespace {

DataDirectory data() { return DataDirectory::find(); }

}  // namespace

TEST_CASE("the shipped step coefficients are few, near their priors and say what they rest on") {
  const StepCoefficientFile file = load_step_coefficients(data());
  std::set<std::pair<int, std::string>> seen;
  for (const StepCoefficientSet& set : file.sets) {
    CHECK(seen.emplace(static_cast<int>(set.generation), set.stack).second);
    CHECK(set.coefficients.size() <= 5);
    CHECK_FALSE(set.fitted_to.empty());
    for (const StepCoefficient& coefficient : set.coefficients) {
      CHECK_FALSE(coefficient.evidence.empty());
      CHECK(coefficient.value > coefficient.prior / 2);
      CHECK(coefficient.value < coefficient.prior * 2);
    }
  }
  CHECK(find_set(file, topology::Architecture::volta, "fsdp-eager") == nullptr);
}

TEST_CASE("step coefficients scale kernels in steps and not in benchmarks") {
  const topology::Device device = topology::load_device(data(), "h100-sxm-80gb");
  StepCoefficients slow;
  slow.gemm_time = 1.2;
  slow.memory_time = 1.5;
  slow.attention_time = 1.7;
  const KernelCostModel plain(data(), device);
  const KernelCostModel scaled(data(), device, AttentionKernel::flash2, slow);
  const Kernel gemm{"gemm", Gemm{8192, 8192, 8192}, 1};
  const Kernel bytes{"copy", Streaming{StreamingKind::copy, 1e9, 1e9}, 1};
  Attention work;
  work.query_length = work.key_length = 8192;
  work.heads = work.kv_heads = 32;
  work.head_dim = 128;
  const Kernel attention{"attention", work, 1};
  const auto ratio = [&](const Kernel& kernel, Setting setting) {
    return scaled.time(kernel, setting).total_s / plain.time(kernel, setting).total_s;
  };
  CHECK(ratio(gemm, Setting::step) == Approx(1.2));
  CHECK(ratio(bytes, Setting::step) == Approx(1.5));
  CHECK(ratio(attention, Setting::step) == Approx(1.7));
  for (const Kernel& kernel : {gemm, bytes, attention})
    CHECK(ratio(kernel, Setting::benchmark) == Approx(1));
}

TEST_CASE("a lower power limit slows arithmetic by the square root of its share") {
  CHECK(clock_share_of(350, 700) == Approx(0.70711).epsilon(1e-4));
  CHECK(clock_share_of(800, 700) == 1);
  const topology::Device device = topology::load_device(data(), "h100-sxm-80gb");
  StepCoefficients limited;
  limited.clock_share = 0.5;
  const KernelCostModel plain(data(), device);
  const KernelCostModel slower(data(), device, AttentionKernel::flash2, limited);
  const Kernel gemm{"gemm", Gemm{8192, 8192, 8192}, 1};
  const Kernel bytes{"copy", Streaming{StreamingKind::copy, 1e9, 1e9}, 1};
  CHECK(slower.time(gemm).total_s / plain.time(gemm).total_s == Approx(2).epsilon(0.02));
  CHECK(slower.time(bytes).total_s == plain.time(bytes).total_s);
}

TEST_CASE("a coefficient file is read strictly") {
  const std::filesystem::path path = temporary_path("coefficients.yaml");
  std::ofstream(path) << "sets:\n  - generation: hoper\n    stack: x\n    fitted_to: \"y\"\n"
                         "    gemm_time: { value: 0 }\n    gem_time: 1\n";
  CHECK_THROWS_AS(read_step_coefficients(path.string()), InputError);
  std::filesystem::remove(path);
}

TEST_CASE("nominal hardware FLOPs count whole blocks again, however recomputation ends") {
  const Model model = load_zoo_model(data(), "llama2-7b").model;
  Training training;
  training.sequence_length = 4096;
  const auto flops = [&] {
    return nominal_hardware_flops_per_token(model, training, FlopsConvention::full_attention);
  };
  const double plain = flops();
  CHECK(plain == training_flops_per_token(model, 4096, FlopsConvention::full_attention));
  training.activation_checkpointing = CheckpointKind::full;
  const double head = 3 * head_forward_flops_per_token(model);
  CHECK(flops() == Approx(plain + (plain - head) / 3));
  training.activation_checkpointing = CheckpointKind::selective;
  training.selective_policy = SelectivePolicy::core_attention;
  CHECK(flops() - plain == Approx(4.0 * 32 * 4096 * 4096));
}
