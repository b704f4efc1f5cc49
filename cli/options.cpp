#include "cli/verbs.hpp"

#include "scenarios/parallel.hpp"

#include "sim/base/error.hpp"
#include "sim/base/message_text.hpp"
#include "sim/base/parse_quantity.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>

namespace stepsim::cli {

using workloads::FlopsConvention;

void add_scenario_options(CLI::App& verb, ScenarioOptions& options) {
  verb.add_option("FILE", options.file, "Scenario file (see stepsim schema)")->required();
  verb.add_option("--set", options.overrides,
                  "Change a key of the scenario, such as training.micro_batch=2; may be repeated")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  verb.add_option("--flops", options.flops, "What model FLOPs count")
      ->check(CLI::IsMember({"full-attention", "causal-attention", "six-n"}))
      ->type_name("CONVENTION")
      ->default_str("full-attention");
}

scenarios::Scenario load(const DataDirectory& data, const ScenarioOptions& options) {
  scenarios::Scenario scenario = scenarios::load_scenario(data, options.file, options.overrides);
  const FlopsConvention conventions[] = {FlopsConvention::full_attention,
                                         FlopsConvention::causal_attention, FlopsConvention::six_n};
  for (const FlopsConvention convention : conventions) {
    if (options.flops == workloads::to_string(convention)) scenario.flops_convention = convention;
  }
  return scenario;
}

void add_simulation_options(CLI::App& verb, SimulationOptions& options) {
  verb.add_flag("--no-fold", options.no_fold,
                "Execute every rank, also those that nothing tells apart; the result is the same");
  verb.add_option("--jobs", options.jobs,
                  "Threads for what is simulated several times; the result is the same for any "
                  "number. All of the machine when left out")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  verb.add_option("--seeds", options.seeds,
                  "Steps to simulate where the scenario has cluster.noise, instead of its seeds")
      ->check(CLI::Range(1, 100'000))
      ->type_name("N");
}

scenarios::SimulateOptions simulate_options(const SimulationOptions& options) {
  return {.fold = !options.no_fold,
          .threads = options.jobs == 0 ? scenarios::machine_threads() : options.jobs};
}

scenarios::Scenario load(const DataDirectory& data, const ScenarioOptions& scenario,
                         const SimulationOptions& simulation) {
  scenarios::Scenario loaded = load(data, scenario);
  if (simulation.seeds == 0) return loaded;
  if (!loaded.noise) {
    throw InputError(Diagnostic{{},
                                "--seeds",
                                "needs noise, and the scenario has none",
                                "a block cluster.noise, such as --set cluster.noise.kernel=0.05",
                                ""});
  }
  loaded.noise->seeds = simulation.seeds;
  return loaded;
}

std::vector<std::int64_t> whole_numbers(const std::string& option, const std::string& text,
                                        const NumbersForm& form) {
  std::vector<std::int64_t> numbers;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    const ParsedQuantity<std::int64_t> number = parse_integer(text.substr(start, end - start));
    if (!number.value) break;
    numbers.push_back(*number.value);
    start = end + 1;
  }
  if (start > text.size() && numbers.size() == form.count) return numbers;
  throw InputError(Diagnostic{{},
                              option,
                              in_quotes(text) + " is not " + form.names,
                              std::string(form.names) + ", such as " + form.example,
                              ""});
}

CLI::Option* add_output_option(CLI::App& verb, const std::string& names, std::string& file,
                               const std::string& about) {
  const auto not_empty = [](const std::string& name) {
    return name.empty() ? std::string("the name of the file is empty") : std::string();
  };
  return verb.add_option(names, file, about)->type_name("FILE")->check(not_empty);
}

void add_format_option(CLI::App& verb, Format& format) {
  const std::map<std::string, Format> formats = {{"text", Format::text},
                                                 {"md", Format::markdown},
                                                 {"csv", Format::csv},
                                                 {"json", Format::json}};
  verb.add_option_function<std::string>(
          "--format", [formats, &format](const std::string& name) { format = formats.at(name); },
          "How to print the result: text, md, csv or json")
      ->check(CLI::IsMember({"text", "md", "csv", "json"}))
      ->type_name("FORMAT")
      ->default_str("text");
}

}  // namespace stepsim::cli
