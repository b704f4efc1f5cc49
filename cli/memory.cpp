#include "cli/verbs.hpp"

#include "report/markdown.hpp"
#include "report/memory_text.hpp"
#include "report/result_json.hpp"

#include "scenarios/simulate.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>

namespace stepsim::cli {

namespace {

struct MemoryOptions {
  ScenarioOptions scenario;
  Format format = Format::text;
};

ExitCode account(const MemoryOptions& options) {
  const DataDirectory data = DataDirectory::find();
  const scenarios::Scenario scenario = load(data, options.scenario);
  const scenarios::MemoryAnswer answer = scenarios::account_memory(data, scenario);
  const auto json = [&] { return report::memory_json(scenario, answer); };
  print(Forms{[&](const report::Style& style) {
                return report::memory_text(scenario, answer, style);
              },
              [&] { return report::key_value_table(json()); }, json,
              [&] { return report::memory_markdown(scenario, answer); }},
        options.format);
  return exit_code_of(answer.memory.report());
}

}  // namespace

void add_memory(CLI::App& app, Invocation& invocation) {
  CLI::App* verb =
      app.add_subcommand("memory", "Memory of a step, part by part, and whether it fits");
  const auto options = std::make_shared<MemoryOptions>();
  add_scenario_options(*verb, options->scenario);
  add_format_option(*verb, options->format);
  verb->footer(
      "Examples:\n"
      "  stepsim memory scenarios/examples/llama3-70b-fsdp-64xh100.yaml\n"
      "  stepsim memory job.yaml --set training.activation_checkpointing=none\n\n"
      "Exits with 1 when the plan does not fit, and says what would make it fit.");
  verb->callback(
      [options, &invocation] { invocation.action = [options] { return account(*options); }; });
}

}  // namespace stepsim::cli
