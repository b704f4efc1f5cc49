#include "report/markdown.hpp"

#include "report/build_info.hpp"
#include "report/imperfection_text.hpp"
#include "report/run_parts.hpp"
#include "report/text_format.hpp"
#include "report/text_sections.hpp"

#include <fmt/format.h>

#include <vector>

namespace stepsim::report {

namespace {

using scenarios::Scenario;
using scenarios::StepResult;

constexpr Style plain_style{true, false};

std::string section(const std::string& name, const std::string& note) {
  return "\n## " + name + "\n\n" + (note.empty() ? "" : markdown_text(note) + ".\n\n");
}

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, dot(plain_style)));
}

std::string beginning(const Scenario& scenario, const std::vector<LabelledParts>& rows) {
  Table table{{{"rests on"}, {"what"}}, {}};
  for (const LabelledParts& row : rows) table.add_row({row.label, joined(row.parts)});
  return "# stepsim " + version() + ": " + markdown_text(inert(scenario.file)) + "\n\n" +
         to_markdown(table);
}

std::string assumptions(const std::vector<std::string>& list) {
  if (list.empty()) return {};
  std::string text = section("Assumes", "What nobody measured or stated");
  for (const std::string& item : by_topic(list)) text += "- " + markdown_text(inert(item)) + '\n';
  return text;
}

std::string clocks(const StepResult& result) {
  constexpr std::size_t note_width = 120;
  Table table{{{"clock"}, {"time", Align::right}, {"share", Align::right}, {"most of it"}}, {}};
  for (std::size_t i = 0; i < result.critical_path.by_clock.size(); ++i) {
    const auto clock = static_cast<sim::Clock>(i);
    const Time time = result.critical_path.by_clock[i];
    table.add_row({sim::to_string(clock), human_time(time),
                   percent(share_of(time, result.step_time)),
                   contributors(result, clock, note_width)});
  }
  std::string text =
      section("Clocks", "What the critical path spends the step on") + to_markdown(table);
  const std::vector<std::string> added = added_parts(result);
  return added.empty() ? text : text + "\nOf which " + markdown_text(joined(added)) + ".\n";
}

std::string time_line(const StepResult& result) {
  const sim::TimeLine& line = result.time_line;
  Table table{{{"a GPU's time"}, {"time", Align::right}, {"share", Align::right}}, {}};
  const auto add = [&](const std::string& name, Time time) {
    table.add_row({name, human_time(time), percent(share_of(time, result.step_time))});
  };
  add("compute", line.compute);
  add("bubble", line.bubble);
  add("exposed communication", line.exposed);
  add("idle" + idle_causes(line), line.idle);
  return section("Time line", "What a GPU does, mean over ranks") + to_markdown(table);
}

std::string communication(const StepResult& result) {
  if (result.time_line.communication.empty()) return {};
  return section("Communication", "A rank and step; busy overlaps with compute, exposed does not") +
         to_markdown(communication_table(result.time_line));
}

std::string noise(const StepResult& result) {
  if (!result.distribution) return {};
  return section("Noise",
                 fmt::format("The step over {} seeds; all else is of seed {}, the median",
                             result.distribution->seeds, result.distribution->median_seed)) +
         markdown_text(joined(noise_parts(result))) + '\n';
}

std::string long_run(const StepResult& result) {
  if (!result.goodput) return {};
  return section("Long run", fmt::format("{} simulated runs with failures", result.goodput->runs)) +
         markdown_text(joined(long_run_parts(result))) + '\n';
}

std::string memory(const scenarios::MemoryResult& memory) {
  const workloads::MemoryReport& report = memory.report();
  Table table{
      {{"at the peak"}, {"size", Align::right}, {"bytes", Align::right}, {"of GPU", Align::right}},
      {}};
  const auto add = [&](const MemoryPart& part) {
    table.add_row({part.name, human_bytes(part.bytes), std::to_string(part.bytes.count()),
                   percent(part.bytes.gib() / report.capacity.gib())});
  };
  for (const MemoryPart& part : all_memory_parts(report)) add(part);
  add({"in all", report.peak_reserved + report.outside});
  std::string text = section("Memory", "") + markdown_text(memory_verdict(memory)) + "\n\n" +
                     to_markdown(table) + "\nThe peak stands at " +
                     markdown_text(inert(report.peak_moment)) + ".\n";
  if (memory.stages.size() > 1) text += '\n' + to_markdown(stages_table(memory));
  return text;
}

}  // namespace

std::string run_markdown(const Scenario& scenario, const StepResult& result) {
  std::vector<LabelledParts> rows = rests_on(scenario, result.profiles, plain_style);
  rows.push_back({"FLOPs", flops_parts(scenario, result)});
  if (result.measured_error) rows.push_back({"measured", measured_parts(scenario, result)});
  std::vector<std::string> parts = step_parts(result);
  for (std::string& part : parts) part = markdown_text(part);
  parts.front() = "**" + parts.front() + "**";
  return beginning(scenario, rows) + '\n' + joined(parts) + "\n\n" +
         markdown_text(inert(uncertainty_sentence(result))) + ".\n" + clocks(result) +
         time_line(result) + communication(result) + noise(result) + long_run(result) +
         memory(result.memory) + assumptions(result.assumptions);
}

std::string memory_markdown(const Scenario& scenario, const scenarios::MemoryAnswer& answer) {
  return beginning(scenario, rests_on(scenario, answer.profiles, plain_style)) +
         memory(answer.memory) + assumptions(answer.assumptions);
}

}  // namespace stepsim::report
