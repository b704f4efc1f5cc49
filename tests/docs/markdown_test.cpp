#include "tests/docs/markdown.hpp"

#include "tests/support/catch.hpp"

#include <sstream>

using namespace stepsim::docs;

TEST_CASE("fenced blocks carry language, words and the line they open on", "[markdown]") {
  std::istringstream text(
      "# Title\n\n```yaml file=a.yaml fragment\nmodel: x\n```\n```\nplain\n```\n");
  const std::vector<Block> blocks = fenced_blocks(text);
  REQUIRE(blocks.size() == 2);
  CHECK(blocks[0].language == "yaml");
  CHECK(blocks[0].line == 3);
  CHECK(blocks[0].file_name() == "a.yaml");
  CHECK(blocks[0].has("fragment"));
  CHECK(blocks[0].lines == std::vector<std::string>{"model: x"});
  CHECK(blocks[1].language.empty());
  CHECK(blocks[1].file_name().empty());
}

TEST_CASE("a block that is never closed is an error", "[markdown]") {
  std::istringstream text("```console\n$ stepsim\n");
  CHECK_THROWS_WITH(fenced_blocks(text), "line 1: block not closed");
}

TEST_CASE("a console block splits into commands and their output", "[markdown]") {
  const Block block{
      "console", {}, 10, {"$ stepsim run \\", "    a.yaml", "one", "", "$ echo $?", "0"}};
  const std::vector<Command> commands = console_commands(block);
  REQUIRE(commands.size() == 2);
  CHECK(commands[0].text == "stepsim run \\\n    a.yaml");
  CHECK(commands[0].line == 11);
  CHECK(commands[0].output == std::vector<std::string>{"one", ""});
  CHECK(commands[1].text == "echo $?");
  CHECK(commands[1].line == 15);
  CHECK_THROWS_WITH(console_commands({"console", {}, 1, {"text"}}),
                    "line 2: output before a command");
}

TEST_CASE("links lead to files when they are neither addresses nor anchors", "[markdown]") {
  std::istringstream text(
      "[a](docs/a.md) and ![b](b.svg), [c](docs/c.md#part)\n[d](#part) [e](https://e.org/x)\n"
      "```\n[f](f.md)\n```\n");
  std::vector<std::string> targets;
  for (const Link& link : file_links(text)) targets.push_back(link.target);
  CHECK(targets == std::vector<std::string>{"docs/a.md", "b.svg", "docs/c.md"});
}

TEST_CASE("paths of the repository are mentions, patterns with a NAME are not", "[markdown]") {
  std::istringstream text(
      "`sim/run_ahead_executor.cpp`, `docs/`, `topology/NAME.yaml`, `run`, sim/x.cpp\n");
  std::vector<std::string> targets;
  for (const Link& link : file_mentions(text)) targets.push_back(link.target);
  CHECK(targets == std::vector<std::string>{"sim/run_ahead_executor.cpp", "docs/"});
}
