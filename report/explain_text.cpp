#include "report/explain_text.hpp"

#include "report/result_json.hpp"
#include "report/run_parts.hpp"
#include "report/text_format.hpp"
#include "report/text_sections.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stepsim::report {

namespace {

using nlohmann::ordered_json;
using scenarios::Explanation;
using scenarios::Scenario;
using scenarios::WhatIf;

constexpr const char* path_note = "what bounds the step, longest first; the times sum to it";
constexpr const char* free_note = "one clock made free, the step simulated again";
constexpr const char* faster_note = "one resource 10 % faster, the step simulated again";

double share(Time part, Time whole) {
  return static_cast<double>(part.count_ps()) / static_cast<double>(whole.count_ps());
}

/// «-1.2 ms» for a step that gets longer.
std::string signed_time(Time time) {
  if (time >= Time::zero()) return human_time(time);
  return "-" + human_time(Time::zero() - time);
}

std::string signed_percent(double part) { return part < 0 ? "-" + percent(-part) : percent(part); }

void add_rows(Table& table, const std::string& change, const std::vector<WhatIf>& list,
              Time step_time) {
  for (const WhatIf& what_if : list) {
    table.add_row({change, what_if.what, human_time(what_if.step_time), signed_time(what_if.saved),
                   signed_percent(share(what_if.saved, step_time)), what_if.sentence});
  }
}

std::string what_if_lines(const std::vector<WhatIf>& list, Time step_time) {
  Table table{{{"what"}, {"step", Align::right}, {"saved", Align::right}, {"share", Align::right}},
              {}};
  std::string sentences;
  for (const WhatIf& what_if : list) {
    table.add_row({what_if.what, human_time(what_if.step_time), signed_time(what_if.saved),
                   signed_percent(share(what_if.saved, step_time))});
    sentences += "  " + what_if.sentence + '\n';
  }
  return to_text(table) + sentences;
}

/// The longest parts of the critical path, and one row for all others.
Table path_table(const scenarios::StepResult& result) {
  constexpr std::size_t most = 12;
  Table table{{{"what"},
               {"clock"},
               {"time", Align::right},
               {"share", Align::right},
               {"count", Align::right}},
              {}};
  Time rest;
  std::int64_t rest_count = 0;
  for (std::size_t i = 0; i < result.contributions.size(); ++i) {
    const scenarios::PathContribution& part = result.contributions[i];
    if (i >= most) {
      rest += part.time;
      rest_count += part.count;
      continue;
    }
    table.add_row({inert(part.what), sim::to_string(part.clock), human_time(part.time),
                   percent(share(part.time, result.step_time)), std::to_string(part.count)});
  }
  if (result.contributions.size() > most) {
    table.add_row({fmt::format("{} more", result.contributions.size() - most), "", human_time(rest),
                   percent(share(rest, result.step_time)), std::to_string(rest_count)});
  }
  return table;
}

ordered_json what_if_json(const std::vector<WhatIf>& list, const char* subject, Time step_time) {
  ordered_json rows = ordered_json::array();
  for (const WhatIf& what_if : list) {
    rows.push_back({{subject, what_if.what},
                    {"step_time_s", exact_seconds(what_if.step_time)},
                    {"saved_s", exact_seconds(what_if.saved)},
                    {"saved_share", share(what_if.saved, step_time)},
                    {"sentence", what_if.sentence}});
  }
  return rows;
}

// What declared slow parts and sharing add, and that the plan does not fit: neither is among the
// changes that are tried.
std::string warnings_text(const scenarios::StepResult& result, const Style& style) {
  std::string text;
  const std::vector<std::string> added = added_parts(result);
  for (const std::string& line : wrap_parts(added, dot(style), text_width - 9))
    text += (text.empty() ? "of which " : "         ") + line + '\n';
  if (result.memory.report().fits) return text;
  for (const std::string& line : wrap(memory_verdict(result.memory), text_width))
    text += paint(style, Colour::red, line) + '\n';
  return text;
}

}  // namespace

std::string explain_text(const Scenario& scenario, const Explanation& explanation,
                         const Style& style) {
  const scenarios::StepResult& result = explanation.result;
  return rests_on_section(scenario, result.profiles, style) + '\n' +
         paint(style, Colour::bold, "Step time  " + human_time(result.step_time)) + '\n' +
         warnings_text(result, style) + heading(style, "Critical path", path_note) +
         to_text(path_table(result)) + heading(style, "What if", free_note) +
         what_if_lines(explanation.free_clocks, result.step_time) +
         heading(style, "Sensitivity", faster_note) +
         what_if_lines(explanation.faster_resources, result.step_time);
}

Table explain_table(const Explanation& explanation) {
  Table table{{{"change"},
               {"what"},
               {"step", Align::right},
               {"saved", Align::right},
               {"share", Align::right},
               {"in_words"}},
              {}};
  const Time step_time = explanation.result.step_time;
  add_rows(table, "free clock", explanation.free_clocks, step_time);
  add_rows(table, "10 % faster", explanation.faster_resources, step_time);
  return table;
}

ordered_json explain_json(const Scenario& scenario, const Explanation& explanation) {
  const scenarios::StepResult& result = explanation.result;
  const ordered_json document = run_json(scenario, result);
  ordered_json json = {{"schema", "stepsim.explanation/1"}};
  for (const char* key :
       {"scenario", "provenance", "step_time_s", "clocks", "critical_path", "clocks_added"})
    json[key] = document.at(key);
  json["free_clocks"] = what_if_json(explanation.free_clocks, "clock", result.step_time);
  json["faster_resources"] =
      what_if_json(explanation.faster_resources, "resource", result.step_time);
  json["simulation"] = document.at("simulation");
  return json;
}

}  // namespace stepsim::report
