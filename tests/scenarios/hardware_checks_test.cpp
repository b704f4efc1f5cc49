#include "tests/scenarios/scenario_text.hpp"
#include "tests/support/catch.hpp"

using namespace stepsim::scenarios;

TEST_CASE("flash3 is refused on GPUs it does not run on, at its place") {
  const std::string flash3 = "software: {attention: flash3}";
  CHECK(complaint(scenario_text({{12, flash3}})) == "");
  CHECK(complaint(scenario_text({{3, "  node: dgx-h200"}, {12, flash3}})) == "");
  CHECK(complaint(scenario_text({{3, "  node: dgx-a100"}, {12, flash3}})) ==
        "s.yaml:12:23: software.attention: is flash3, which runs on Hopper GPUs and not on "
        "a100-sxm-80gb (expected flash2, cudnn or unfused) (did you mean \"flash2\"?)");
}

TEST_CASE("hardware too small to be one is refused at its place") {
  CHECK(complaint(scenario_text({{4, "  nodes: 2\n  gpu: {memory: 0 GB}"}})) ==
        "s.yaml:5:17: cluster.gpu.memory: is too little for a GPU (expected 1 GB or more)");
  CHECK(complaint(scenario_text({{4, "  nodes: 2\n  gpu: {memory_bandwidth: 100 B/s}"}})) ==
        "s.yaml:5:27: cluster.gpu.memory_bandwidth: is too little for a GPU (expected 1 GB/s or "
        "more)");
  CHECK(complaint(scenario_text({{4, "  nodes: 2\n  fabric: {nic: 500 Mb/s}"}})) ==
        "s.yaml:5:17: cluster.fabric.nic: is too slow for a training network (expected 1 Gb/s or "
        "more)");
  CHECK(complaint(scenario_text({{4, "  nodes: 2\n  fabric: {nic: 1 Gb/s}"}})) == "");
}
