#include "report/run_text.hpp"

#include "report/clock_bars.hpp"
#include "report/imperfection_text.hpp"
#include "report/table.hpp"
#include "report/text_format.hpp"
#include "report/text_sections.hpp"

#include "topology/peak_flop_rate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace stepsim::report {

namespace {

using scenarios::Scenario;
using scenarios::StepResult;

double share_of(Time part, Time whole) {
  if (whole.count_ps() == 0) return 0;
  return static_cast<double>(part.count_ps()) / static_cast<double>(whole.count_ps());
}

std::string flops_line(const Scenario& scenario, const StepResult& result, const Style& style) {
  const auto peak = topology::utilisation_peak(scenario.cluster.node.device);
  return labelled("FLOPs",
                  {fmt::format("{} convention", workloads::to_string(scenario.flops_convention)),
                   fmt::format("peak {} TFLOP/s a GPU (dense {}, datasheet)",
                               three_digits(result.peak_flops_per_second * 1e-12),
                               topology::to_string(peak.format))},
                  style);
}

std::string step_line(const StepResult& result, const Style& style) {
  return '\n' + paint(style, Colour::bold, "Step time  " + human_time(result.step_time)) +
         fmt::format("   tps {} per GPU ({} in all)   MFU {}   HFU {}   {} TFLOP/s per GPU\n",
                     three_digits(result.tokens_per_second_per_gpu),
                     human_count(result.tokens_per_second), percent(result.mfu),
                     percent(result.hfu),
                     three_digits(result.model_flops_per_second_per_gpu * 1e-12));
}

// «80 % of measured steps should lie between 6.9 s and 8.4 s (…)».
std::string uncertainty_line(const StepResult& result) {
  const scenarios::StepUncertainty& range = result.uncertainty;
  const std::string line =
      fmt::format("{:.0f} % of measured steps should lie between {} and {}: {}", 100 * range.level,
                  human_time(range.low), human_time(range.high), inert(range.basis));
  std::string text;
  for (const std::string& part : wrap(line, text_width)) text += part + '\n';
  return text;
}

std::string measured_line(const Scenario& scenario, const StepResult& result, const Style& style) {
  if (!result.measured_error) return {};
  std::vector<std::string> parts = {
      human_time(*scenario.measured->step_time_s),
      fmt::format("the prediction is {:.1f} % too {}", std::abs(*result.measured_error) * 100,
                  *result.measured_error < 0 ? "fast" : "slow")};
  if (!scenario.measured->source.empty()) parts.push_back(inert(scenario.measured->source));
  return labelled("measured", parts, style);
}

// «of which slow rank 17 30 ms (compute)»: what sharing and declared slow parts added.
std::string added_line(const StepResult& result, const Style& style) {
  constexpr std::size_t most = 4;
  std::vector<std::string> parts;
  for (const scenarios::AddedTime& added : result.added) {
    if (parts.size() == most) break;
    parts.push_back(fmt::format("{} {} ({})", inert(added.cause), human_time(added.time),
                                sim::to_string(added.clock)));
  }
  if (parts.empty()) return {};
  parts.front() = "of which " + parts.front();
  return part_lines(parts, style);
}

std::string clocks_section(const StepResult& result, const Style& style) {
  std::string text = heading(style, "Clocks", "what the critical path spends the step on");
  for (std::size_t i = 0; i < result.critical_path.by_clock.size(); ++i) {
    const auto clock = static_cast<sim::Clock>(i);
    text += share_row(sim::to_string(clock), result.critical_path.by_clock[i].seconds(),
                      result.step_time.seconds(), colour_of(clock), style);
  }
  return text + added_line(result, style);
}

std::string idle_causes(const sim::TimeLine& line) {
  std::vector<std::string> causes;
  for (std::size_t i = 0; i < line.idle_by_cause.size(); ++i) {
    if (line.idle_by_cause[i].count_ps() == 0) continue;
    causes.push_back(fmt::format("{} {}", sim::to_string(static_cast<sim::IdleCause>(i)),
                                 human_time(line.idle_by_cause[i])));
  }
  return causes.empty() ? "" : fmt::format(" ({})", fmt::join(causes, ", "));
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
  return heading(style, "Time line", "what a GPU does, mean over ranks") + part_lines(parts, style);
}

std::string communication_section(const StepResult& result, const Style& style) {
  if (result.time_line.communication.empty()) return {};
  Table table{{{"group"},
               {"op"},
               {"count", Align::right},
               {"bytes", Align::right},
               {"busy", Align::right},
               {"exposed", Align::right}},
              {}};
  for (const sim::GroupUse& use : result.time_line.communication) {
    table.add_row({use.group, use.op, std::to_string(use.count), human_bytes(use.bytes),
                   human_time(use.busy), human_time(use.exposed)});
  }
  return heading(style, "Communication",
                 "a rank and step; busy overlaps with compute, exposed does not") +
         to_text(table);
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
                           flops_line(scenario, result, style) + step_line(result, style) +
                           uncertainty_line(result) +
                           measured_line(scenario, result, style) + clocks_section(result, style) +
                           time_line_section(result, style) + communication_section(result, style) +
                           noise_section(result, style) + long_run_section(result, style) +
                           memory_section(result.memory, style);
  // Assumptions get what is left of a screen: heading and the count of the others take three lines.
  constexpr std::ptrdiff_t screen_lines = 40;
  const std::ptrdiff_t used = std::count(text.begin(), text.end(), '\n') + 3;
  const auto left = static_cast<std::size_t>(std::max<std::ptrdiff_t>(screen_lines - used, 2));
  return text + assumptions_section(result.assumptions, left, style);
}

}  // namespace stepsim::report
