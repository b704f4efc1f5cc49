#include "scenarios/explain.hpp"

#include "cli/verbs.hpp"

#include "report/explain_text.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>

namespace stepsim::cli {

namespace {

struct ExplainOptions {
  ScenarioOptions scenario;
  SimulationOptions simulation;
  Format format = Format::text;
};

ExitCode explain(const ExplainOptions& options) {
  const DataDirectory data = DataDirectory::find();
  const scenarios::Scenario scenario = load(data, options.scenario, options.simulation);
  const scenarios::Explanation explanation =
      scenarios::explain_step(data, scenario, simulate_options(options.simulation));
  const auto json = [&] { return report::explain_json(scenario, explanation); };
  print(Forms{[&](const report::Style& style) {
                return report::explain_text(scenario, explanation, style);
              },
              [&] { return report::explain_table(explanation); }, json},
        options.format);
  return ExitCode::done;
}

}  // namespace

void add_explain(CLI::App& app, Invocation& invocation) {
  CLI::App* verb = app.add_subcommand(
      "explain", "What a step waits for, and what would make it shorter: each simulated");
  const auto options = std::make_shared<ExplainOptions>();
  add_scenario_options(*verb, options->scenario);
  add_simulation_options(*verb, options->simulation);
  add_format_option(*verb, options->format);
  verb->footer(
      "Examples:\n"
      "  stepsim explain scenarios/examples/llama3-70b-fsdp-64xh100.yaml\n"
      "  stepsim explain job.yaml --set training.micro_batch=2 --format md\n\n"
      "Prints what the critical path consists of, the step with each of the four made free, and "
      "the step\n"
      "with each resource 10 % faster, the most saved first.");
  verb->callback(
      [options, &invocation] { invocation.action = [options] { return explain(*options); }; });
}

}  // namespace stepsim::cli
