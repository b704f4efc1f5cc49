#include "tests/cli/command.hpp"
#include "tests/support/catch.hpp"

using namespace stepsim::test;

TEST_CASE("a reader that has seen enough ends the command quietly") {
  for (const std::string& verb :
       {std::string("list models"), std::string("schema"), "run " + example}) {
    const Outcome outcome = shell("exec 3> >(true); sleep 0.2; \"$STEPSIM\" " + verb + " >&3");
    CAPTURE(verb);
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.err.empty());
  }
}

TEST_CASE("a file that is a pipe whose reader has gone is a failed write with a reason") {
  const Outcome outcome =
      shell("exec 3> >(true); sleep 0.2; \"$STEPSIM\" run " + example + " --json /dev/fd/3");
  CHECK(outcome.exit_code == 2);
  CHECK(contains(outcome.err, "cannot be written"));
}

TEST_CASE("a full device is a failed write with a reason") {
  const Outcome outcome = shell("\"$STEPSIM\" list models > /dev/full");
  CHECK(outcome.exit_code == 2);
  CHECK(contains(outcome.err, "No space left on device"));
}

TEST_CASE("a JSON file that cannot be written is refused and leaves nothing behind") {
  const Scratch scratch;
  const std::string file = scratch.path("no-such-folder/result.json");
  const Outcome outcome = run_stepsim("run " + example + " --json " + file);
  CHECK(outcome.exit_code == 2);
  CHECK(contains(outcome.err, file + ": cannot be written: No such file or directory"));
  CHECK(scratch.names().empty());
}

TEST_CASE("a JSON file is replaced as a whole and nothing else is left in its folder") {
  const Scratch scratch;
  const std::string file = scratch.write("result.json", "what was there before");
  CHECK(run_stepsim("run " + example + " --json " + file).exit_code == 0);
  CHECK(nlohmann::json::parse(read_file(file)).at("schema") == "stepsim.result/1");
  CHECK(scratch.names() == std::vector<std::string>{"result.json"});
}

TEST_CASE("a link to the JSON file stays a link") {
  const Scratch scratch;
  const std::string file = scratch.write("result.json", "");
  std::filesystem::create_symlink(file, scratch.path("link"));
  CHECK(run_stepsim("run " + example + " --json " + scratch.path("link")).exit_code == 0);
  CHECK(std::filesystem::is_symlink(scratch.path("link")));
  CHECK(nlohmann::json::parse(read_file(file)).at("schema") == "stepsim.result/1");
}

TEST_CASE("a folder in the place of the JSON file stays as it is") {
  const Scratch scratch;
  const Outcome outcome = run_stepsim("run " + example + " --json " + scratch.path("."));
  CHECK(outcome.exit_code == 2);
  CHECK(scratch.names().empty());
}

TEST_CASE("the option --json writes into the name of an open file and does not replace it") {
  const Outcome outcome = run_stepsim("run " + example + " --json /proc/self/fd/2");
  CHECK(outcome.exit_code == 0);
  CHECK(nlohmann::json::parse(outcome.err).at("schema") == "stepsim.result/1");
}

TEST_CASE("names from files cannot act on the terminal") {
  const Scratch scratch;
  const std::string file = scratch.write(
      "evil.yaml", "model: \"llama3-8b\\e[2J\"\ncluster: { node: \"\\e]0;x\\a\", nodes: 1 }\n");
  const Outcome outcome = run_stepsim("run " + file);
  CHECK(outcome.exit_code == 2);
  CHECK(contains(outcome.err, "\\x1b[2J"));
  CHECK_FALSE(contains(outcome.err, "\x1b"));
  CHECK_FALSE(contains(outcome.err, "\x07"));
}

TEST_CASE("a link to a JSON file that is not there yet stays a link") {
  const Scratch scratch;
  std::filesystem::create_directory(scratch.path("folder"));
  std::filesystem::create_symlink("folder/result.json", scratch.path("link"));
  std::filesystem::create_symlink(scratch.path("link"), scratch.path("link_to_link"));
  CHECK(run_stepsim("run " + example + " --json " + scratch.path("link_to_link")).exit_code == 0);
  CHECK(std::filesystem::is_symlink(scratch.path("link_to_link")));
  CHECK(std::filesystem::is_symlink(scratch.path("link")));
  const auto result = nlohmann::json::parse(read_file(scratch.path("folder/result.json")));
  CHECK(result.at("schema") == "stepsim.result/1");
}

TEST_CASE("links in a circle are a failed write with a reason") {
  const Scratch scratch;
  std::filesystem::create_symlink("b", scratch.path("a"));
  std::filesystem::create_symlink("a", scratch.path("b"));
  const Outcome outcome = run_stepsim("run " + example + " --json " + scratch.path("a"));
  CHECK(outcome.exit_code == 2);
  CHECK(contains(outcome.err, "cannot be written"));
  CHECK(scratch.names() == std::vector<std::string>{"a", "b"});
}

TEST_CASE("a scenario may come through a pipe") {
  const std::string plain = run_stepsim("run " + example).out;
  const auto without_name = [](const std::string& text) { return text.substr(text.find('\n')); };
  for (const std::string& script : {"\"$STEPSIM\" run <(cat " + example + ")",
                                    "cat " + example + " | \"$STEPSIM\" run /dev/stdin",
                                    "\"$STEPSIM\" run /dev/stdin < " + example}) {
    CAPTURE(script);
    const Outcome outcome = shell("export LC_ALL=C.UTF-8; " + script);
    CHECK(outcome.exit_code == 0);
    CHECK(without_name(outcome.out) == without_name(plain));
  }
}

TEST_CASE("a model may come through a pipe, as JSON") {
  const std::string config = "scenarios/examples/tinyllama-1.1b.config.json";
  const Outcome outcome = shell("\"$STEPSIM\" import hf <(cat " + config + ")");
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err.empty());
}
