#include "report/validation.hpp"

#include "report/build_info.hpp"
#include "report/text_format.hpp"
#include "report/text_sections.hpp"

#include "scenarios/validation_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace stepsim::report {

using scenarios::CaseResult;
using scenarios::ComparedStep;
using scenarios::ErrorSummary;
using scenarios::SummaryRow;

namespace {

constexpr std::size_t shown_worst = 10;
constexpr std::size_t shown_failures = 20;

std::string one_decimal(double share) { return fmt::format("{:.1f}", 100 * share); }

// With its sign, and no «-0.0».
std::string signed_percent(double share) {
  const std::string text = fmt::format("{:+.1f}", 100 * share);
  return text == "-0.0" || text == "+0.0" ? "0.0" : text;
}

std::string use_text(const std::optional<scenarios::Use>& use) {
  return use ? scenarios::to_string(*use) : "all";
}

std::string memory_text(workloads::FitVerdict verdict) {
  if (verdict == workloads::FitVerdict::tight) return "tight";
  return verdict == workloads::FitVerdict::does_not_fit ? "does not fit" : "";
}

std::size_t count_of(const Validation& validation, bool (*is)(const CaseResult&)) {
  return static_cast<std::size_t>(
      std::count_if(validation.results.begin(), validation.results.end(), is));
}

bool is_compared(const CaseResult& result) { return result.step.has_value(); }
bool is_excluded(const CaseResult& result) { return !result.excluded.empty(); }
bool is_failed(const CaseResult& result) { return !result.problems.empty(); }

std::string rests_on(const Validation& validation, const Style& style) {
  std::vector<std::string> suites;
  for (const scenarios::Suite& suite : validation.suites)
    suites.push_back(fmt::format("{} {}", inert(suite.name), suite.hash.substr(0, 8)));
  std::string text = fmt::format("stepsim {}  validation\n\n", version());
  text += labelled("suites", suites, style);
  if (!validation.overrides.empty()) {
    std::vector<std::string> changes;
    for (const std::string& change : validation.overrides) changes.push_back(inert(change));
    text += labelled("changed", changes, style);
  }
  if (!validation.without.empty()) text += labelled("without", validation.without, style);
  text += labelled("cases",
                   {fmt::format("{} in all", validation.results.size()),
                    fmt::format("{} compared", count_of(validation, is_compared)),
                    fmt::format("{} excluded", count_of(validation, is_excluded)),
                    fmt::format("{} failed", count_of(validation, is_failed))},
                   style);
  return text;
}

// Of a regime that no case has: nothing.
std::string mean_text(const ErrorSummary& errors) {
  return errors.count == 0 ? "" : one_decimal(errors.mean);
}

Table summary_table(const std::vector<SummaryRow>& rows) {
  Table table{{{"suite"},
               {"use"},
               {"cases", Align::right},
               {"mean", Align::right},
               {"median", Align::right},
               {"p90", Align::right},
               {"worst", Align::right},
               {"bias", Align::right},
               {"zero-shot", Align::right},
               {"one_number", Align::right},
               {"null", Align::right},
               {"inside", Align::right}},
              {}};
  std::string last = "none yet";
  for (const SummaryRow& row : rows) {
    const ErrorSummary& errors = row.errors.fitted;
    const std::string suite = row.suite.empty() ? "all suites" : inert(row.suite);
    table.add_row({suite == last ? "" : suite, use_text(row.use), std::to_string(errors.count),
                   one_decimal(errors.mean), one_decimal(errors.median), one_decimal(errors.p90),
                   signed_percent(errors.worst), signed_percent(errors.bias),
                   mean_text(row.errors.zero_shot), mean_text(row.errors.one_number),
                   mean_text(row.errors.null_model),
                   fmt::format("{:.0f}", 100 * row.errors.inside_interval)});
    last = suite;
  }
  return table;
}

Table cases_table(const std::vector<const CaseResult*>& results) {
  Table table{{{"suite"},
               {"case"},
               {"use"},
               {"measured", Align::right},
               {"predicted", Align::right},
               {"error", Align::right},
               {"memory"}},
              {}};
  for (const CaseResult* result : results) {
    const ComparedStep& step = *result->step;
    table.add_row({inert(result->suite), inert(result->id), scenarios::to_string(result->use),
                   human_time(step.measured_s), human_time(step.fitted_s),
                   signed_percent(step.error()), memory_text(step.memory)});
  }
  return table;
}

constexpr const char* legend =
    "  zero-shot: mean without coefficients fitted to steps; one number: mean with one scale from "
    "the\n"
    "  suite's scale_from; null: mean of one utilisation for each GPU type, the best for these "
    "very\n"
    "  cases; inside: % of cases inside the 80 % interval\n";

std::string memory_section(const Validation& validation, const Style& style) {
  const scenarios::MemorySummary memory = scenarios::summarise_memory(validation.results);
  const std::size_t count =
      memory.ran_said_no + memory.ran_said_yes + memory.died_said_no + memory.died_said_yes;
  if (count == 0) return {};
  std::string text = heading(style, "Memory", fmt::format("verdicts on {} cases", count));
  text += fmt::format("  ran:           said to fit {}, said not to {}\n", memory.ran_said_yes,
                      memory.ran_said_no);
  text += fmt::format("  out of memory: said to fit {}, said not to {}\n", memory.died_said_yes,
                      memory.died_said_no);
  if (memory.peak.count > 0)
    text += fmt::format("  peak: {} cases, mean {} %, worst {} %, bias {} %\n", memory.peak.count,
                        one_decimal(memory.peak.mean), signed_percent(memory.peak.worst),
                        signed_percent(memory.peak.bias));
  return text;
}

std::string failures(const Validation& validation, const Style& style) {
  std::string text;
  std::size_t shown = 0;
  for (const CaseResult& result : validation.results) {
    if (result.problems.empty()) continue;
    if (shown == 0) text += heading(style, "Failed", "not predicted, and in no figure above");
    if (++shown > shown_failures) continue;
    text += fmt::format("  {}/{}: {}\n", inert(result.suite), inert(result.id),
                        inert(result.problems.front()));
  }
  if (shown > shown_failures)
    text += fmt::format("  and {} more, listed by --format json\n", shown - shown_failures);
  return text;
}

std::string exclusions(const Validation& validation, const Style& style) {
  std::vector<std::pair<std::string, std::size_t>> reasons;
  for (const CaseResult& result : validation.results) {
    if (result.excluded.empty()) continue;
    const auto known = std::find_if(reasons.begin(), reasons.end(), [&](const auto& reason) {
      return reason.first == result.excluded;
    });
    if (known == reasons.end())
      reasons.emplace_back(result.excluded, 1);
    else
      ++known->second;
  }
  if (reasons.empty()) return {};
  std::string text = heading(style, "Excluded", "by the suites, with their reasons");
  for (const auto& [reason, count] : reasons) {
    const std::vector<std::string> lines =
        wrap(fmt::format("{}: {}", count, inert(reason)), text_width - 2);
    for (const std::string& line : lines) text += "  " + line + '\n';
  }
  return text;
}

}  // namespace

std::string validation_text(const Validation& validation, ShownCases cases, const Style& style) {
  std::string text = rests_on(validation, style);
  const std::vector<SummaryRow> rows = scenarios::summary_rows(validation.results);
  if (!rows.empty()) {
    text += heading(style, "Errors in %",
                    "predicted / measured step time - 1; bias below 0: too "
                    "fast");
    text += to_text(summary_table(rows)) + legend;
  }
  text += memory_section(validation, style);
  std::vector<const CaseResult*> shown = scenarios::by_error(validation.results);
  if (cases == ShownCases::worst && shown.size() > shown_worst) shown.resize(shown_worst);
  if (!shown.empty()) {
    text += heading(style, cases == ShownCases::worst ? "Farthest off" : "Cases",
                    "step times, error in %");
    text += to_text(cases_table(shown));
  }
  return text + failures(validation, style) + exclusions(validation, style);
}

Table validation_table(const Validation& validation) {
  Table table{{{"suite"},
               {"case"},
               {"use"},
               {"stack"},
               {"device"},
               {"gpus", Align::right},
               {"metric"},
               {"measured", Align::right},
               {"predicted", Align::right},
               {"error", Align::right},
               {"zero_shot_error", Align::right},
               {"one_number_error", Align::right},
               {"null_error", Align::right},
               {"memory"},
               {"excluded"},
               {"problem"}},
              {}};
  for (const CaseResult& result : validation.results) {
    std::vector<std::string> row = {inert(result.suite), inert(result.id),
                                    scenarios::to_string(result.use)};
    if (result.step) {
      const ComparedStep& step = *result.step;
      const std::string one_number =
          step.one_number_s ? fmt::format("{:.5f}", *step.one_number_s / step.measured_s - 1) : "";
      const std::vector<std::string> compared = {
          inert(step.stack),
          inert(step.device),
          std::to_string(step.gpus),
          step.metric,
          fmt::format("{:.8g}", step.measured),
          fmt::format("{:.8g}", step.predicted),
          fmt::format("{:.5f}", step.error()),
          fmt::format("{:.5f}", step.zero_shot_s / step.measured_s - 1),
          one_number,
          fmt::format("{:.5f}", step.null_error()),
          memory_text(step.memory)};
      row.insert(row.end(), compared.begin(), compared.end());
    } else {
      row.resize(14);
    }
    row.push_back(inert(result.excluded));
    row.push_back(result.problems.empty() ? "" : inert(result.problems.front()));
    table.add_row(std::move(row));
  }
  return table;
}

}  // namespace stepsim::report
