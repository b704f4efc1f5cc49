#include "tests/cli/command.hpp"
#include "tests/support/catch.hpp"

using namespace stepsim::test;

namespace {

const std::string too_large = example + " --set training.activation_checkpointing=none";

}  // namespace

TEST_CASE("what does not fit exits with 1, says by how much and what would make it fit") {
  for (const std::string verb : {"run ", "memory "}) {
    const Outcome outcome = run_stepsim(verb + too_large);
    CHECK(outcome.exit_code == 1);
    CHECK(outcome.err.empty());
    CHECK(contains(outcome.out, "does not fit,"));
    CHECK(contains(outcome.out, " too much."));
    CHECK(contains(outcome.out, "would"));
    CHECK(contains(outcome.out, "--set training.activation_checkpointing="));
  }
}

TEST_CASE("the change that is said to make it fit makes it fit") {
  const auto result = stepsim_json("memory " + too_large);
  const auto& remedy = result.at("memory").at("remedy");
  std::string changes;
  for (const auto& change : remedy.at("set")) changes += " --set " + change.get<std::string>();
  CHECK(run_stepsim("memory " + too_large + changes).exit_code == 0);
  const auto mended = stepsim_json("memory " + too_large + changes);
  CHECK(mended.at("memory").at("peak_reserved_bytes") == remedy.at("peak_reserved_bytes"));
}

TEST_CASE("run and memory agree") {
  const auto run = stepsim_json("run " + example);
  const auto memory = stepsim_json("memory " + example);
  CHECK(run.at("memory").dump() == memory.at("memory").dump());
  CHECK(memory.at("schema") == "stepsim.memory/1");
}

TEST_CASE("the memory table names every part and the verdict") {
  const Outcome outcome = run_stepsim("memory " + example);
  CHECK(outcome.exit_code == 0);
  for (const char* part : {"parameters", "gradients", "optimizer_states", "activations", "in all",
                           "of 79.15 GiB: fits", "The peak stands at"}) {
    CAPTURE(part);
    CHECK(contains(outcome.out, part));
  }
}
