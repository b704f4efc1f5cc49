#include "tests/cli/command.hpp"
#include "tests/support/catch.hpp"

using namespace stepsim::test;

TEST_CASE("clocks and roofline reject what they do not know") {
  CHECK(contains(run_stepsim("clocks llama3-7b h100-sxm-80gb --tokens 128").err, "did you mean"));
  CHECK(contains(run_stepsim("clocks llama3-8b h100-sxm --tokens 128").err, "h100-sxm-80gb"));
  CHECK(run_stepsim("clocks llama3-8b h100-sxm-80gb --tokens 0").exit_code == 2);
  CHECK(run_stepsim("clocks llama3-8b h100-sxm-80gb --decode 0,8192").exit_code == 2);
  CHECK(run_stepsim("clocks llama3-8b h100-sxm-80gb --decode 32").exit_code == 2);
  CHECK(run_stepsim("clocks llama3-8b h100-sxm-80gb --decode 1,2 --tokens 3").exit_code == 2);
  CHECK(run_stepsim("roofline h100-sxm-80gb --gemm 1,2").exit_code == 2);
  CHECK(run_stepsim("roofline h100-sxm-80gb --gemm 1,2,x").exit_code == 2);
  CHECK(run_stepsim("roofline h100-sxm-80gb --gemm 0,2,3").exit_code == 2);
  CHECK(run_stepsim("roofline h100").exit_code == 2);
}
