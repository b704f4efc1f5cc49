#include "cli/verbs.hpp"

#include "report/result_json.hpp"
#include "report/schema_table.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>

namespace stepsim::cli {

namespace {

ExitCode print_schema(Format format) {
  const std::string schema = scenarios::scenario_schema(DataDirectory::find());
  print(Forms{[&](const report::Style&) { return schema; },
              [&] { return report::schema_table(schema); },
              [&] { return nlohmann::ordered_json::parse(schema); }},
        format);
  return ExitCode::done;
}

}  // namespace

void add_schema(CLI::App& app, Invocation& invocation) {
  CLI::App* verb = app.add_subcommand("schema", "Print the JSON Schema of scenario files");
  const auto format = std::make_shared<Format>(Format::text);
  add_format_option(*verb, *format);
  verb->footer(
      "Examples:\n"
      "  stepsim schema > scenario.schema.json\n"
      "  stepsim schema --format md\n\n"
      "An editor with a YAML language server completes and checks scenario files whose first line\n"
      "is \"# yaml-language-server: $schema=scenario.schema.json\". The Markdown and CSV forms "
      "list\n"
      "the keys with their values, defaults and meaning.");
  verb->callback(
      [format, &invocation] { invocation.action = [format] { return print_schema(*format); }; });
}

}  // namespace stepsim::cli
