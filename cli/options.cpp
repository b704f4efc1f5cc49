#include "cli/verbs.hpp"

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
