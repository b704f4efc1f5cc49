#pragma once

/// The verbs: each adds its sub-command to the command line and, when chosen, leaves what to do in
/// the invocation. One source file a verb.

#include "cli/exit_code.hpp"
#include "cli/output.hpp"

#include "scenarios/scenario.hpp"
#include "scenarios/simulate.hpp"

#include "workloads/model.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace stepsim::cli {

/// What the parsed command line asks for.
struct Invocation {
  std::function<ExitCode()> action;
};

void add_run(CLI::App& app, Invocation& invocation);
void add_explain(CLI::App& app, Invocation& invocation);
void add_memory(CLI::App& app, Invocation& invocation);
void add_clocks(CLI::App& app, Invocation& invocation);
void add_roofline(CLI::App& app, Invocation& invocation);
void add_list(CLI::App& app, Invocation& invocation);
void add_schema(CLI::App& app, Invocation& invocation);
void add_import(CLI::App& app, Invocation& invocation);
void add_calibrate(CLI::App& app, Invocation& invocation);
/// `stepsim help [VERB]`.
void add_help(CLI::App& app, Invocation& invocation);
void add_validate(CLI::App& app, Invocation& invocation);

/// The scenario a verb reads: FILE, --set and --flops.
struct ScenarioOptions {
  std::string file;
  std::vector<std::string> overrides;
  std::string flops;
};
void add_scenario_options(CLI::App& verb, ScenarioOptions& options);
scenarios::Scenario load(const DataDirectory& data, const ScenarioOptions& options);

/// How a verb simulates a scenario: --no-fold, --jobs and --seeds.
struct SimulationOptions {
  bool no_fold = false;
  int jobs = 0;   // 0: as many as the machine runs at once
  int seeds = 0;  // 0: as the scenario says
};
void add_simulation_options(CLI::App& verb, SimulationOptions& options);
scenarios::SimulateOptions simulate_options(const SimulationOptions& options);
/// The scenario, with the seeds asked for. Throws InputError when it has no noise to draw.
scenarios::Scenario load(const DataDirectory& data, const ScenarioOptions& scenario,
                         const SimulationOptions& simulation);

/// What an option of whole numbers between commas looks like.
struct NumbersForm {
  const char* names;    // «M,N,K»
  const char* example;  // «8192,28672,8192»
  std::size_t count;
};

/// The numbers of such an option. Throws InputError that says what it should look like.
std::vector<std::int64_t> whole_numbers(const std::string& option, const std::string& text,
                                        const NumbersForm& form);

/// An option that names a file to write to; an empty name is refused.
CLI::Option* add_output_option(CLI::App& verb, const std::string& names, std::string& file,
                               const std::string& about);

/// --format, on every verb.
void add_format_option(CLI::App& verb, Format& format);

}  // namespace stepsim::cli
