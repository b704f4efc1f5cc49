#include "workloads/optimizer_kernels.hpp"

#include "tests/support/catch.hpp"

using namespace stepsim::workloads;

TEST_CASE("AdamW moves 28 bytes a parameter fused and some three times that otherwise",
          "[optimizer_kernels]") {
  const auto bytes = [](const std::vector<Kernel>& kernels) {
    double sum = 0;
    for (const Kernel& kernel : kernels) sum += minimum_bytes(kernel);
    return sum;
  };
  const OptimizerWork work{1'000'000, 10, false};
  CHECK(bytes(adamw_kernels(work, OptimizerForm::fused)) == 28e6);
  CHECK(bytes(adamw_kernels({1'000'000, 10, true}, OptimizerForm::fused)) == 30e6);
  CHECK(bytes(adamw_kernels(work, OptimizerForm::foreach)) == 80e6);
  CHECK(bytes(gradient_clipping_kernels(work)) == 12e6);
  // 100 million elements are 1526 chunks: five kernels of at most 320.
  CHECK(adamw_kernels({100'000'000, 10, false}, OptimizerForm::fused).front().launches == 5);
  CHECK(adamw_kernels({1000, 100, false}, OptimizerForm::fused).front().launches == 3);
}
