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

TEST_CASE("numbers between commas are refused with the form that is expected and an example") {
  for (const std::string text :
       {"8192x28672x8192", "1,2", "1,2,3,4", "1,2,x", "1,,3", "1,2,", "1.5,2,3"}) {
    const Outcome outcome = run_stepsim("roofline h100-sxm-80gb --gemm " + text);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.err == "stepsim: --gemm: \"" + text +
                             "\" is not M,N,K (expected M,N,K, such as 8192,28672,8192)\n");
  }
  CHECK(run_stepsim("clocks llama3-8b h100-sxm-80gb --decode 1x1024").err ==
        "stepsim: --decode: \"1x1024\" is not BATCH,CONTEXT (expected BATCH,CONTEXT, such as "
        "32,8192)\n");
}

TEST_CASE("a rate without a unit is quoted once") {
  const Outcome outcome =
      run_stepsim("clocks llama3-8b h100-sxm-80gb --data-parallel 8 --link 400");
  CHECK(outcome.exit_code == 2);
  CHECK(contains(outcome.err, "--link: \"400\" has no unit (expected a rate such as 400 Gb/s"));
}

TEST_CASE("tensor parallelism divides the heads and stays in a node") {
  const std::string clocks = "clocks llama3-8b h100-sxm-80gb --tensor-parallel ";
  for (const std::string ways : {"3", "5", "6", "64"}) {
    const Outcome outcome = run_stepsim(clocks + ways);
    CAPTURE(ways);
    CHECK(outcome.exit_code == 2);
    CHECK(contains(outcome.err, "--tensor-parallel: " + ways + " does not divide 32 heads"));
  }
  const Outcome beyond = run_stepsim(clocks + "16");
  CHECK(beyond.exit_code == 2);
  CHECK(contains(beyond.err, "8 GPUs"));
  for (const std::string ways : {"1", "2", "4", "8"}) {
    CHECK(run_stepsim(clocks + ways).exit_code == 0);
  }
  CHECK(run_stepsim("clocks llama3-8b gb200 --tensor-parallel 32").exit_code == 0);
}

TEST_CASE("options of clocks that would do nothing are refused") {
  const std::string clocks = "clocks llama3-8b h100-sxm-80gb ";
  CHECK(contains(run_stepsim(clocks + "--link '400 Gb/s'").err,
                 "--link: makes no sense without --data-parallel"));
  CHECK(contains(run_stepsim(clocks + "--decode 1,1024 --data-parallel 8").err,
                 "--data-parallel: makes no sense with --decode"));
  CHECK(contains(run_stepsim(clocks + "--sequence-length 0").err,
                 "--sequence-length: 0 makes no sense"));
  CHECK(run_stepsim(clocks + "--sequence-length 8192").exit_code == 0);
}

TEST_CASE("a model is not asked for more tokens than its learned positions") {
  const std::string clocks = "clocks gpt2-124m h100-sxm-80gb ";
  CHECK(run_stepsim(clocks + "--tokens 8192").err ==
        "stepsim: --tokens: a sequence of 8192 tokens is longer than the position table of "
        "gpt2-124m (expected at most 1024 tokens in a sequence (--sequence-length))\n");
  CHECK(contains(run_stepsim(clocks + "--tokens 8192 --sequence-length 2048").err,
                 "--sequence-length: a sequence of 2048 tokens"));
  CHECK(contains(run_stepsim(clocks + "--decode 1,1024").err, "--decode: a sequence of 1025"));
  CHECK(run_stepsim(clocks + "--tokens 8192 --sequence-length 1024").exit_code == 0);
  CHECK(contains(run_stepsim(clocks).out, "1024 tokens a GPU"));
  CHECK(run_stepsim(clocks + "--decode 1,1023").exit_code == 0);
}
