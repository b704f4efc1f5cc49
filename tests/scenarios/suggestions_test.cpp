#include "tests/scenarios/scenario_text.hpp"
#include "tests/support/catch.hpp"

using namespace stepsim::scenarios;

TEST_CASE("near misses are offered what was meant") {
  const std::string ddp = "  strategy: ddp\n  bucket_size: 25";
  CHECK(complaint(scenario_text({{6, ddp}})).find("(did you mean \"25 MiB\"?)") !=
        std::string::npos);
  const auto checkpointing = [](const std::string& value) {
    return complaint(scenario_text(), {"training.activation_checkpointing=" + value});
  };
  CHECK(checkpointing("true") ==
        "--set training.activation_checkpointing=true: training.activation_checkpointing: is true "
        "(expected none, selective or full) (did you mean \"full\"?)");
  CHECK(checkpointing("false").find("(did you mean \"none\"?)") != std::string::npos);
}
