#include "cli/verbs.hpp"

#include "report/refit_text.hpp"
#include "report/result_json.hpp"
#include "report/validation.hpp"

#include "scenarios/ablation.hpp"
#include "scenarios/refit.hpp"
#include "scenarios/validation_summary.hpp"

#include "workloads/step_coefficients.hpp"

#include "sim/base/document.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

namespace stepsim::cli {

namespace {

struct ValidateOptions {
  std::vector<std::string> files;
  std::vector<std::string> overrides;
  int jobs = 0;  // 0: as many as the machine has cores
  bool all_cases = false;
  bool refit = false;
  std::vector<std::string> without;
  std::string coefficients_file;
  double max_error_percent = -1;  // below 0: any
  Format format = Format::text;
  std::string json_file;
};

/// A counter on standard error, when somebody looks at it.
class Progress {
 public:
  Progress() : shown_(::isatty(STDERR_FILENO) == 1) {}
  ~Progress() {
    if (shown_) std::fprintf(stderr, "\r\x1b[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::size_t done, std::size_t all) const {
    if (shown_) std::fprintf(stderr, "\r%zu of %zu cases", done, all);
  }

 private:
  bool shown_;
};

int threads_of(const ValidateOptions& options) {
  if (options.jobs > 0) return options.jobs;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::vector<scenarios::CaseResult> run_cases(const ValidateOptions& options,
                                             const std::vector<scenarios::Suite>& suites) {
  const Progress progress;
  scenarios::ValidationOptions settings;
  settings.threads = threads_of(options);
  settings.without = options.without;
  settings.progress = [&](std::size_t done, std::size_t all) { progress.show(done, all); };
  return scenarios::validate(DataDirectory::find(), suites, settings);
}

ExitCode exit_code_of(const ValidateOptions& options, const report::Validation& validation) {
  const bool failed =
      std::any_of(validation.results.begin(), validation.results.end(),
                  [](const scenarios::CaseResult& result) { return !result.problems.empty(); });
  const double mean = scenarios::summarise(scenarios::by_error(validation.results)).fitted.mean;
  const bool too_far = options.max_error_percent >= 0 && 100 * mean > options.max_error_percent;
  return failed || too_far ? ExitCode::verdict_is_no : ExitCode::done;
}

// Fits the shipped coefficients again; the verdict is whether they came out as they are shipped.
ExitCode refit(const ValidateOptions& options, const std::vector<scenarios::Suite>& suites) {
  const DataDirectory data = DataDirectory::find();
  const workloads::StepCoefficientFile shipped = workloads::load_step_coefficients(data);
  const std::vector<scenarios::RefitGroup> groups =
      scenarios::refit(data, suites, shipped, threads_of(options));
  const std::string text = scenarios::step_coefficients_text(groups);
  const bool same = text == read_file(shipped.file, 1'000'000);
  if (!options.coefficients_file.empty()) write_file(options.coefficients_file, text);
  print(Forms{[&](const report::Style& style) { return report::refit_text(groups, same, style); },
              [&] { return report::refit_table(groups); },
              [&] { return report::table_json(report::refit_table(groups)); }},
        options.format);
  return same ? ExitCode::done : ExitCode::verdict_is_no;
}

ExitCode validate(const ValidateOptions& options) {
  report::Validation validation;
  validation.overrides = options.overrides;
  validation.without = options.without;
  for (const std::string& mechanism : options.without) scenarios::check_mechanism(mechanism);
  for (const std::string& file : options.files)
    validation.suites.push_back(scenarios::load_suite(file, options.overrides));
  if (options.refit) return refit(options, validation.suites);
  validation.results = run_cases(options, validation.suites);
  const auto json = [&] { return report::validation_json(validation); };
  if (!options.json_file.empty()) write_file(options.json_file, report::to_json_text(json()));
  const report::ShownCases shown =
      options.all_cases ? report::ShownCases::all : report::ShownCases::worst;
  print(Forms{[&](const report::Style& style) {
                return report::validation_text(validation, shown, style);
              },
              [&] { return report::validation_table(validation); }, json},
        options.format);
  return exit_code_of(options, validation);
}

void add_options(CLI::App& verb, ValidateOptions& options) {
  verb.add_option("SUITE", options.files, "Suite files of measured runs")->required();
  verb.add_option("--set", options.overrides,
                  "Change a key of every case, such as software.interference=false; may be "
                  "repeated")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  verb.add_option(
          "--without", options.without,
          "Leave a mechanism out: coefficients, interference, recompute, early_stop, launch, "
          "attention_generation, optimizer_form or power_limit; may be repeated")
      ->type_name("MECHANISM")
      ->allow_extra_args(false);
  verb.add_flag(
      "--refit", options.refit,
      "Fit the step coefficients to the suites' fit cases and compare with those shipped");
  verb.add_option("--write-coefficients", options.coefficients_file,
                  "With --refit: write what was fitted to this file")
      ->needs("--refit")
      ->type_name("FILE");
  verb.add_option("--jobs", options.jobs, "Cases to simulate at a time; all cores when left out")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  verb.add_flag("--cases", options.all_cases, "List every case, not only those farthest off");
  verb.add_option("--max-error", options.max_error_percent,
                  "Exit with 1 when the mean absolute error is above so many percent")
      ->check(CLI::Range(0.0, 1e6))
      ->check([](const std::string& text) {  // which no comparison with a range refuses
        return std::isnan(std::strtod(text.c_str(), nullptr)) ? "is not a number" : std::string();
      })
      ->type_name("PERCENT");
  verb.add_option("--json", options.json_file, "Also write the result as JSON to this file")
      ->type_name("FILE");
  add_format_option(verb, options.format);
}

}  // namespace

void add_validate(CLI::App& app, Invocation& invocation) {
  CLI::App* verb =
      app.add_subcommand("validate", "Predicted against measured, over suites of published runs");
  const auto options = std::make_shared<ValidateOptions>();
  add_options(*verb, *options);
  verb->footer(
      "Examples:\n"
      "  stepsim validate scenarios/published/*.yaml\n"
      "  stepsim validate scenarios/published/llm-foundry-h100.yaml --cases\n"
      "  stepsim validate scenarios/published/*.yaml --without interference\n"
      "  stepsim validate scenarios/published/*.yaml --refit\n"
      "  stepsim validate my-runs.yaml --max-error 10 --json result.json\n\n"
      "Exits with 1 when a case could not be predicted, the error is above --max-error, or a\n"
      "refit differs from what is shipped.");
  verb->callback(
      [options, &invocation] { invocation.action = [options] { return validate(*options); }; });
}

}  // namespace stepsim::cli
