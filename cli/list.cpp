#include "cli/verbs.hpp"

#include "report/catalogue.hpp"
#include "report/result_json.hpp"

#include "sim/base/error.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace stepsim::cli {

namespace {

struct Kind {
  const char* name;
  report::Table (*table)(const DataDirectory& data);
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {{"models", report::models_table},
                                        {"devices", report::devices_table},
                                        {"nodes", report::nodes_table},
                                        {"kernels", report::kernels_table},
                                        {"examples", report::examples_table}};
  return all;
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const Kind& kind : kinds()) names.emplace_back(kind.name);
  return names;
}

struct ListOptions {
  std::string kind;
  Format format = Format::text;
};

ExitCode list(const ListOptions& options) {
  for (const Kind& kind : kinds()) {
    if (options.kind != kind.name) continue;
    const report::Table table = kind.table(DataDirectory::find());
    print(Forms{[&](const report::Style&) { return report::to_text(table, 0); },
                [&] { return table; }, [&] { return report::table_json(table); }},
          options.format);
    return ExitCode::done;
  }
  throw InputError(Diagnostic{{},
                              "",
                              fmt::format("\"{}\" is nothing that can be listed", options.kind),
                              fmt::format("one of {}", fmt::join(kind_names(), ", ")),
                              nearest_choice(options.kind, kind_names())});
}

}  // namespace

void add_list(CLI::App& app, Invocation& invocation) {
  CLI::App* verb = app.add_subcommand("list", "What there is: models, devices, nodes, profiles");
  const auto options = std::make_shared<ListOptions>();
  verb->add_option("KIND", options->kind, "models, devices, nodes, kernels or examples")
      ->required();
  add_format_option(*verb, options->format);
  verb->footer(
      "Examples:\n"
      "  stepsim list models\n"
      "  stepsim list devices --format md\n"
      "  stepsim list kernels --format json");
  verb->callback(
      [options, &invocation] { invocation.action = [options] { return list(*options); }; });
}

}  // namespace stepsim::cli
