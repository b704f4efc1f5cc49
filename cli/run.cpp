#include "cli/verbs.hpp"

#include "report/markdown.hpp"
#include "report/result_json.hpp"
#include "report/run_text.hpp"

#include "scenarios/simulate.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>

namespace stepsim::cli {

namespace {

struct RunOptions {
  ScenarioOptions scenario;
  Format format = Format::text;
  std::string json_file;
  SimulationOptions simulation;
};

ExitCode run(const RunOptions& options) {
  const DataDirectory data = DataDirectory::find();
  const scenarios::Scenario scenario = load(data, options.scenario, options.simulation);
  const scenarios::StepResult result =
      scenarios::simulate_step(data, scenario, simulate_options(options.simulation));
  const auto json = [&] { return report::run_json(scenario, result); };
  if (!options.json_file.empty()) write_file(options.json_file, report::to_json_text(json()));
  print(Forms{[&](const report::Style& style) { return report::run_text(scenario, result, style); },
              [&] { return report::key_value_table(json()); }, json,
              [&] { return report::run_markdown(scenario, result); }},
        options.format);
  return exit_code_of(result.memory.report());
}

}  // namespace

void add_run(CLI::App& app, Invocation& invocation) {
  CLI::App* verb = app.add_subcommand(
      "run", "Simulate one step: its time, the four clocks, exposed communication, memory");
  const auto options = std::make_shared<RunOptions>();
  add_scenario_options(*verb, options->scenario);
  add_output_option(*verb, "--json", options->json_file,
                    "Also write the result as JSON to this file");
  add_simulation_options(*verb, options->simulation);
  add_format_option(*verb, options->format);
  verb->footer(
      "Examples:\n"
      "  stepsim run scenarios/examples/llama3-70b-fsdp-64xh100.yaml\n"
      "  stepsim run job.yaml --set training.micro_batch=2 --set plan.reshard_after_forward=false\n"
      "  stepsim run job.yaml --json result.json --flops causal-attention\n"
      "  stepsim run job.yaml --format csv > result.csv\n\n"
      "Exits with 1 when the plan does not fit in memory.");
  verb->callback(
      [options, &invocation] { invocation.action = [options] { return run(*options); }; });
}

}  // namespace stepsim::cli
