#include "report/run_text.hpp"

#include "report/clock_bars.hpp"
#include "report/imperfection_text.hpp"
#include "report/run_parts.hpp"
#include "report/table.hpp"
#include "report/text_format.hpp"
#include "report/text_sections.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <vector>

namespace stepsim::report {

namespace {

using scenarios::Scenario;
using scenarios::StepResult;

std::string step_line(const StepResult& result, const Style& style) {
  const std::vector<std::string> parts = step_parts(result);
  std::string text = fmt::format("\n{}\n", fmt::join(wrap_parts(parts, "   ", text_width), "\n"));
  return text.replace(1, parts.front().size(), paint(style, Colour::bold, parts.front()));
}

std::string uncertainty_line(const StepResult& result) {
  std::string text;
  for (const std::string& part : wrap(inert(uncertainty_sentence(result)), text_width))
    text += part + '\n';
  return text;
}

std::string measured_line(const Scenario& scenario, const StepResult& result, const Style& style) {
  if (!result.measured_error) return {};
  return labelled("measured", measured_parts(scenario, result), style);
}

// «of which slow rank 17 30 ms (compute)»: what sharing and declared slow parts added.
std::string added_line(const StepResult& result, const Style& style) {
  std::vector<std::string> parts = added_parts(result);
  if (parts.empty()) return {};
  parts.front() = "of which " + parts.front();
  return part_lines(parts, style);
}

std::string clocks_section(const StepResult& result, const Style& style) {
  constexpr std::size_t bar_width = 16;
  constexpr std::size_t note_width = text_width - share_row_bar_column - bar_width - 2;
  std::string text = heading(style, "Clocks", clocks_note);
  for (std::size_t i = 0; i < result.critical_path.by_clock.size(); ++i) {
    const auto clock = static_cast<sim::Clock>(i);
    text += share_row({sim::to_string(clock), result.critical_path.by_clock[i].seconds(),
                       result.step_time.seconds(), colour_of(clock), bar_width,
                       contributors(result, clock, note_width)},
                      style);
  }
  return text + added_line(result, style);
}

std::string time_line_section(const StepResult& result, const Style& style) {
  const sim::TimeLine& line = result.time_line;
  const auto part = [&](const char* name, Time time) {
    if (time.count_ps() == 0) return fmt::format("{} 0 s", name);
    return fmt::format("{} {} ({})", name, human_time(time),
                       percent(share_of(time, result.step_time)));
  };
  const std::vector<std::string> parts = {
      part("compute", line.compute), part("bubble", line.bubble),
      part("exposed communication", line.exposed), part("idle", line.idle) + idle_causes(line)};
  return heading(style, "Time line", time_line_note) + part_lines(parts, style);
}

std::string communication_section(const StepResult& result, const Style& style) {
  if (result.time_line.communication.empty()) return {};
  return heading(style, "Communication", communication_note) +
         to_text(communication_table(result.time_line));
}

std::string memory_section(const scenarios::MemoryResult& memory, const Style& style) {
  const workloads::MemoryReport& report = memory.report();
  std::vector<std::string> parts;
  for (const auto& [name, bytes] : memory_parts(report)) {
    parts.push_back(fmt::format("{} {}", name, human_bytes(bytes)));
  }
  parts.push_back("rounding and fragmentation " +
                  human_bytes(report.peak_reserved - report.peak_allocated));
  parts.push_back("outside the allocator " + human_bytes(report.outside));
  std::string text = heading(style, "Memory", "peak at " + inert(report.peak_moment));
  const Colour colour = !report.fits                                     ? Colour::red
                        : report.verdict == workloads::FitVerdict::tight ? Colour::yellow
                                                                         : Colour::green;
  for (const std::string& row : wrap(memory_verdict(memory), text_width - 2)) {
    text += "  " + paint(style, colour, row) + '\n';
  }
  return text + part_lines(parts, style);
}

}  // namespace

std::string run_text(const Scenario& scenario, const StepResult& result, const Style& style) {
  const std::string text = rests_on_section(scenario, result.profiles, style) +
                           labelled("FLOPs", flops_parts(scenario, result), style) +
                           step_line(result, style) + uncertainty_line(result) +
                           measured_line(scenario, result, style) + clocks_section(result, style) +
                           time_line_section(result, style) + communication_section(result, style) +
                           noise_section(result, style) + long_run_section(result, style) +
                           memory_section(result.memory, style);
  return text + assumptions_section(result.assumptions, style);
}

}  // namespace stepsim::report
