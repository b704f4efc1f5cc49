#include "tests/cli/command.hpp"
#include "tests/support/catch.hpp"

using namespace stepsim::test;

TEST_CASE("the option --version names version, build and compiler") {
  const Outcome outcome = run_stepsim("--version");
  CHECK(outcome.exit_code == 0);
  CHECK(contains(outcome.out, "stepsim 0."));
  CHECK(contains(outcome.out, "build "));
  CHECK((contains(outcome.out, "GNU") || contains(outcome.out, "Clang")));
  CHECK(outcome.err.empty());
}

TEST_CASE("the option --help lists the verbs and gives an example") {
  const Outcome outcome = run_stepsim("--help");
  CHECK(outcome.exit_code == 0);
  for (const char* verb : {"run", "memory", "clocks", "roofline", "list", "schema", "import"}) {
    CHECK(contains(outcome.out, std::string("  ") + verb + ' '));
  }
  CHECK(contains(outcome.out, "Examples:"));
}

TEST_CASE("every verb's --help has examples that name the verb") {
  const std::string verb = GENERATE("run", "explain", "validate", "memory", "clocks", "roofline",
                                    "list", "schema", "import", "import hf", "import topo",
                                    "import nccl-xml", "calibrate", "calibrate compare");
  const Outcome outcome = run_stepsim(verb + " --help");
  CHECK(outcome.exit_code == 0);
  CHECK(contains(outcome.out, "Examples:\n  stepsim " + verb));
}

TEST_CASE("an unknown verb names the nearest and all there are") {
  const Outcome outcome = run_stepsim("rum job.yaml");
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.out.empty());
  CHECK(contains(outcome.err, "there is no verb \"rum\""));
  CHECK(contains(outcome.err, "did you mean \"run\"?"));
  CHECK(contains(outcome.err, "roofline"));
}

TEST_CASE("verbs that this version does not have are unknown") {
  for (const char* verb : {"sweep", "plan", "doctor", "calibrate"}) {
    CHECK(run_stepsim(verb).exit_code == 2);
  }
}

TEST_CASE("a misspelt option names the nearest") {
  const Outcome outcome = run_stepsim("run " + example + " --formt json");
  CHECK(outcome.exit_code == 2);
  CHECK(contains(outcome.err, "there is no option \"--formt\""));
  CHECK(contains(outcome.err, "did you mean \"--format\"?"));
}

TEST_CASE("wrong usage exits with 2 and says how to get help") {
  for (const char* arguments :
       {"", "run", "run a b", "list", "list gpus", "clocks llama3-70b", "run x --format yaml",
        "run x --flops 6n", "import", "import onnx x", "--verbose", "explain", "validate",
        "validate x --max-error nan", "validate x --write-coefficients y"}) {
    CAPTURE(arguments);
    const Outcome outcome = run_stepsim(arguments);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out.empty());
    CHECK_FALSE(outcome.err.empty());
  }
}

TEST_CASE("help of a verb is what its --help prints") {
  CHECK(run_stepsim("help").out == run_stepsim("--help").out);
  for (const std::string verb : {"run", "import hf", "calibrate compare", "help"}) {
    const Outcome outcome = run_stepsim("help " + verb);
    CAPTURE(verb);
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.out == run_stepsim(verb + " --help").out);
  }
  const Outcome unknown = run_stepsim("help rum");
  CHECK(unknown.exit_code == 2);
  CHECK(contains(unknown.err, "there is no verb \"rum\""));
  CHECK(contains(unknown.err, "did you mean \"run\"?"));
}

TEST_CASE("help and version that cannot be written are a failure") {
  for (const std::string arguments : {"--help", "--version", "run --help", "help run"}) {
    const Outcome outcome = shell("\"$STEPSIM\" " + arguments + " > /dev/full");
    CAPTURE(arguments);
    CHECK(outcome.exit_code == 2);
    CHECK(contains(outcome.err, "No space left on device"));
  }
}

TEST_CASE("an empty file name is refused") {
  const std::string config = "scenarios/examples/tinyllama-1.1b.config.json";
  for (const std::string& arguments :
       {"run " + example + " --json ''", "import hf " + config + " -o ''"}) {
    const Outcome outcome = run_stepsim(arguments);
    CAPTURE(arguments);
    CHECK(outcome.exit_code == 2);
    CHECK(contains(outcome.err, "the name of the file is empty"));
  }
}
