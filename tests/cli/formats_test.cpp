#include "tests/cli/command.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>

using namespace stepsim::test;

namespace {

// Splits a line of CSV without quoted line breaks.
std::vector<std::string> csv_cells(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char character : line) {
    if (character == '"') {
      quoted = !quoted;
    } else if (character == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += character;
    }
  }
  CHECK_FALSE(quoted);
  return cells;
}

const std::vector<std::string>& commands() {
  static const std::vector<std::string> all = {"run " + example,
                                               "memory " + example,
                                               "list models",
                                               "list devices",
                                               "list nodes",
                                               "list kernels",
                                               "list examples",
                                               "schema",
                                               "clocks llama3-8b h100-sxm-80gb --tokens 8192",
                                               "clocks llama3-8b h100-sxm-80gb --decode 32,8192",
                                               "roofline h100-sxm-80gb --gemm 8192,28672,8192"};
  return all;
}

}  // namespace

TEST_CASE("CSV of every verb is rectangular and has a header") {
  for (const std::string& command : commands()) {
    CAPTURE(command);
    const Outcome outcome = run_stepsim(command + " --format csv");
    CHECK(outcome.exit_code == 0);
    const auto lines = lines_of(outcome.out);
    REQUIRE(lines.size() >= 2);
    const std::size_t columns = csv_cells(lines[0]).size();
    for (const std::string& line : lines) {
      CAPTURE(line);
      CHECK(csv_cells(line).size() == columns);
    }
  }
}

TEST_CASE("Markdown of run and memory is a document of headings, tables and lists") {
  for (const std::string verb : {"run ", "memory "}) {
    const Outcome outcome = run_stepsim(verb + example + " --format md");
    CHECK(outcome.exit_code == 0);
    const auto lines = lines_of(outcome.out);
    CHECK(lines.front().rfind("# stepsim ", 0) == 0);
    CHECK(contains(outcome.out, "\n## Memory\n"));
    CHECK(contains(outcome.out, "\n## Assumes\n"));
    CHECK(contains(outcome.out, verb == "run " ? "**Step time" : "| in all |"));
    for (std::size_t i = 1; i < lines.size(); ++i) {
      CAPTURE(lines[i]);
      // A table begins after an empty line, and every row of it has as many cells.
      if (lines[i].empty() || lines[i].front() != '|') continue;
      const auto cells = [&](const std::string& row) {
        return std::count(row.begin(), row.end(), '|');
      };
      CHECK((lines[i - 1].empty() || cells(lines[i - 1]) == cells(lines[i])));
    }
  }
}

TEST_CASE("Markdown escapes what Markdown would act on") {
  const Scratch scratch;
  const std::string file = scratch.write(
      "a_b.yaml",
      "model: llama3.2-1b\ncluster: { node: dgx-h100, gpus: 1 }\nplan: { strategy: fsdp2 }\n"
      "training: { sequence_length: 128 }\n"
      "measured: { step_time: 1 s, source: '<b>a|b</b> *c* [d](e) `f`' }\n");
  const Outcome outcome = run_stepsim("run " + file + " --format md");
  CHECK(contains(outcome.out, "\\<b\\>a\\|b\\</b\\> \\*c\\* \\[d\\](e) \\`f\\`"));
}

TEST_CASE("Markdown of every other verb is one table") {
  for (const std::string& command : commands()) {
    if (contains(command, example)) continue;
    CAPTURE(command);
    const Outcome outcome = run_stepsim(command + " --format md");
    CHECK(outcome.exit_code == 0);
    const auto lines = lines_of(outcome.out);
    REQUIRE(lines.size() >= 3);
    CHECK(lines[1].find_first_not_of("|:- ") == std::string::npos);
    const auto bars = std::count(lines[0].begin(), lines[0].end(), '|');
    for (const std::string& line : lines) {
      CAPTURE(line);
      CHECK(line.front() == '|');
      CHECK(line.back() == '|');
      CHECK(std::count(line.begin(), line.end(), '|') >= bars);
    }
  }
}

TEST_CASE("JSON of every verb parses and is not empty") {
  for (const std::string& command : commands()) {
    CAPTURE(command);
    CHECK_FALSE(stepsim_json(command).empty());
  }
}

TEST_CASE("CSV of a run has the keys and values of its JSON") {
  const auto lines = lines_of(run_stepsim("run " + example + " --format csv").out);
  const auto result = stepsim_json("run " + example);
  CHECK(lines.front() == "key,value");
  const auto has = [&](const std::string& line) {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
  };
  CHECK(has("step_time_s," + result.at("step_time_s").dump()));
  CHECK(has("clocks.compute_s," + result.at("clocks").at("compute_s").dump()));
  CHECK(has("communication.0.op," + result.at("communication").at(0).at("op").get<std::string>()));
}
