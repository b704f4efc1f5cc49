#include "scenarios/suite.hpp"

#include "sim/base/error.hpp"

#include "tests/scenarios/scenario_text.hpp"
#include "tests/support/catch.hpp"

#include <string>

using namespace stepsim;
using namespace stepsim::scenarios;

namespace {

const std::string head =
    "suite: two\n"
    "source: \"a table\"\n"
    "defaults:\n"
    "  stack: eager\n"
    "  model: llama3-8b\n"
    "  cluster: { node: dgx-h100, fabric: { kind: rail-optimized } }\n"
    "  plan: { strategy: fsdp2 }\n"
    "  training: { sequence_length: 4096, micro_batch: 1, activation_checkpointing: full }\n"
    "cases:\n";

const std::string two_cases =
    "  - id: small\n"
    "    use: fit\n"
    "    cluster: { nodes: 1 }\n"
    "    measured: { step_time: 1 s }\n"
    "  - id: large\n"
    "    cluster: { nodes: 4, fabric: { nic: 200 Gb/s } }\n"
    "    training: { micro_batch: 2, activation_checkpointing: null }\n"
    "    assumed: [cluster.fabric]\n"
    "    measured: { tokens_per_second: 1000 }\n";

Suite load_suite_text(const std::string& text, const std::vector<std::string>& overrides = {}) {
  const TemporaryFolder folder;
  return load_suite(folder.write("suite.yaml", text), overrides);
}

// The folder taken out of paths.
std::string complaint_of_suite(const std::string& text,
                               const std::vector<std::string>& overrides = {}) {
  const TemporaryFolder folder;
  try {
    load_suite(folder.write("suite.yaml", text), overrides);
  } catch (const InputError& error) {
    std::string what = error.what();
    const std::string path = folder.path().string() + '/';
    for (std::size_t at = what.find(path); at != std::string::npos; at = what.find(path))
      what.erase(at, path.size());
    return what;
  }
  return "";
}

}  // namespace

TEST_CASE("a case is a scenario merged over the suite's defaults, key by key") {
  const Suite suite = load_suite_text(head + two_cases);
  CHECK(suite.name == "two");
  CHECK(suite.source == "a table");
  REQUIRE(suite.cases.size() == 2);
  CHECK(suite.cases[0].use == Use::fit);
  CHECK(suite.cases[1].use == Use::check);  // the default
  CHECK(suite.cases[1].stack == "eager");
  CHECK(suite.cases[1].assumed == std::vector<std::string>{"cluster.fabric"});

  const Scenario small = scenario_of(test_data(), suite.cases[0]);
  CHECK(small.cluster.gpus == 8);
  CHECK(small.training.micro_batch == 1);
  CHECK(small.training.activation_checkpointing == workloads::CheckpointKind::full);
  const Scenario large = scenario_of(test_data(), suite.cases[1]);
  CHECK(large.cluster.gpus == 32);
  CHECK(large.cluster.fabric == topology::FabricKind::rail_optimized);
  CHECK(large.cluster.node.nic_bandwidth.value.bytes_per_second() == 25e9);
  CHECK(large.training.micro_batch == 2);
  CHECK(large.training.sequence_length == 4096);
  CHECK(large.training.activation_checkpointing == workloads::CheckpointKind::none);
  CHECK(large.measured->step_time_s.value() == 32 * 2 * 4096 / 1000.0);
}

TEST_CASE("overrides change every case of a suite") {
  const Suite suite = load_suite_text(head + two_cases, {"training.micro_batch=4"});
  for (const SuiteCase& each : suite.cases)
    CHECK(scenario_of(test_data(), each).training.micro_batch == 4);
}

TEST_CASE("all problems of a suite's own keys are reported at their places") {
  CHECK(complaint_of_suite(head + two_cases) == "");
  CHECK(complaint_of_suite("suite: x\ncases: []\n") ==
        "suite.yaml:2:8: cases: is an empty list (expected a list of cases, each with an id)");
  CHECK(complaint_of_suite(head + "  - id: a\n    uses: fit\n    trainig: { micro_batch: 1 }\n"
                                  "  - use: maybe\n  - id: a\n") ==
        "suite.yaml:11:5: cases[0].uses: is not a known key (did you mean \"use\"?)\n"
        "suite.yaml:12:5: cases[0].trainig: is not a known key (did you mean \"training\"?)\n"
        "suite.yaml:13:5: cases[1].id: is missing\n"
        "suite.yaml:13:10: cases[1].use: is \"maybe\" (expected fit or check)\n"
        "suite.yaml:14:9: cases[2].id: the id \"a\" is there twice (expected one that no other "
        "case has; first at line 10)");
  CHECK(complaint_of_suite(head + two_cases + "scale_from: [smal]\n") ==
        "suite.yaml:19:13: scale_from: there is no case \"smal\" (expected ids of cases) (did you "
        "mean \"small\"?)");
  CHECK(complaint_of_suite(head + two_cases + "scale_from: [a, b, c, d, e, f]\n") != "");
}

TEST_CASE("a scenario is no suite, and a bad override is reported once") {
  CHECK(complaint_of_suite(scenario_text()) != "");
  CHECK(complaint_of_suite(head + two_cases, {"training.micro_batch"}) ==
        "--set training.micro_batch: has no value (expected PATH=VALUE, such as cluster.nodes=16)");
}

TEST_CASE("what is wrong with a case's scenario is located in the suite") {
  const TemporaryFolder folder;
  const Suite suite = load_suite(
      folder.write("suite.yaml", head + "  - id: a\n    cluster: { nodes: 1, nods: 2 }\n"));
  try {
    scenario_of(test_data(), suite.cases.front());
    FAIL("it loads");
  } catch (const InputError& error) {
    REQUIRE(error.diagnostics().size() == 1);
    CHECK(error.diagnostics().front().where.line == 11);
    CHECK(error.diagnostics().front().path == "cluster.nods");
  }
}
