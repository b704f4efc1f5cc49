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
