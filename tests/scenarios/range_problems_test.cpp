#include "scenarios/range_problems.hpp"

#include "tests/scenarios/scenario_text.hpp"
#include "tests/support/catch.hpp"

using namespace stepsim;
using namespace stepsim::scenarios;

TEST_CASE("what cannot be counted is said at the place of the scenario") {
  const Scenario scenario = load_text(scenario_text());
  CHECK(within_range(scenario, [] { return 7; }) == 7);
  try {
    within_range(scenario, []() -> int { throw RangeError("a time left the range"); });
    FAIL("nothing was thrown");
  } catch (const InputError& error) {
    const Diagnostic& diagnostic = error.diagnostics().front();
    CHECK(diagnostic.where.file == scenario.file);
    CHECK(diagnostic.where.line == 8);
    CHECK(diagnostic.path == "training");
    CHECK(diagnostic.problem == "asks for more than can be simulated: a time left the range");
  }
}
