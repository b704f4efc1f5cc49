#include "sim/base/error.hpp"

#include "tests/support/catch.hpp"

using stepsim::Diagnostic;
using stepsim::InputError;
using stepsim::nearest_choice;

TEST_CASE("a diagnostic names file, line, column, key, problem, expectation and suggestion") {
  const Diagnostic diagnostic{
      {"a.yaml", 4, 12}, "cluster.nods", "is not a known key", "a key", "nodes"};
  REQUIRE(
      diagnostic.to_string() ==
      "a.yaml:4:12: cluster.nods: is not a known key (expected a key) (did you mean \"nodes\"?)");
}

TEST_CASE("what() of an input error lists every diagnostic") {
  const InputError error(
      {{{"a.yaml", 1, 1}, "", "first", "", ""}, {{"a.yaml", 2, 1}, "", "second", "", ""}});
  REQUIRE(std::string(error.what()) == "a.yaml:1:1: first\na.yaml:2:1: second");
}

TEST_CASE("the nearest choice is offered only when it is near") {
  const std::vector<std::string> keys{"nodes", "node", "gpus", "fabric"};
  REQUIRE(nearest_choice("nods", keys) == "nodes");
  REQUIRE(nearest_choice("fabirc", keys) == "fabric");
  REQUIRE(nearest_choice("temperature", keys).empty());
  REQUIRE(nearest_choice("", keys).empty());
}

TEST_CASE("the nearest choice minds no case and knows what is short for something") {
  const std::vector<std::string> nodes{"dgx-a100",    "dgx-b200",      "dgx-h100",
                                       "gb200-nvl72", "h100-pcie-box", "hgx-h100-4nic"};
  CHECK(nearest_choice("h100", nodes) == "dgx-h100");
  CHECK(nearest_choice("DGX-H100", nodes) == "dgx-h100");
  CHECK(nearest_choice("H100-PCIe", nodes) == "h100-pcie-box");
  CHECK(nearest_choice("gb200", nodes) == "gb200-nvl72");
  CHECK(nearest_choice("h100", {"a100-sxm-80gb", "h100-pcie-80gb", "h100-sxm-80gb"}) ==
        "h100-pcie-80gb");
  CHECK(nearest_choice("llama3", {"llama2-7b", "llama3-70b", "llama3-8b"}) == "llama3-70b");
  CHECK(nearest_choice("BF16", {"bf16", "fp16", "fp32"}) == "bf16");
  CHECK(nearest_choice("seq_len", {"sequence_length", "micro_batch"}) == "sequence_length");
  CHECK(nearest_choice("seq_length", {"sequence_length", "micro_batch"}) == "sequence_length");
}

TEST_CASE("what merely has a letter or a part in common is no suggestion") {
  CHECK(nearest_choice("x", {"gpus", "max-x"}).empty());
  CHECK(nearest_choice("h", {"dgx-h100"}).empty());
  CHECK(nearest_choice("learning_rate", {"sequence_length", "micro_batch", "optimizer"}).empty());
  CHECK(nearest_choice("tpu-v5", {"dgx-h100", "dgx-a100"}).empty());
  CHECK(nearest_choice("--", {"--set"}).empty());
}
