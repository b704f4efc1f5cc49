#include "report/memory_text.hpp"

#include "report/clock_bars.hpp"
#include "report/table.hpp"
#include "report/text_format.hpp"
#include "report/text_sections.hpp"

#include <fmt/format.h>

#include <vector>

namespace stepsim::report {

namespace {

using scenarios::MemoryResult;
using scenarios::Scenario;
using workloads::MemoryReport;

constexpr std::size_t bar_width = 40;

struct Part {
  std::string name;
  Bytes bytes;
};

std::vector<Part> parts_of(const MemoryReport& report) {
  std::vector<Part> parts;
  for (const auto& [name, bytes] : memory_parts(report)) parts.push_back({name, bytes});
  parts.push_back({"rounding and fragmentation", report.peak_reserved - report.peak_allocated});
  for (const auto& [name, bytes] : report.outside_parts) parts.push_back({name, bytes});
  return parts;
}

std::string part_row(const Part& part, Bytes capacity, const Style& style) {
  const double share =
      static_cast<double>(part.bytes.count()) / static_cast<double>(capacity.count());
  const std::string row = fmt::format("  {} {} {:>15} {}", pad_right(part.name, 28),
                                      pad_left(human_bytes(part.bytes), 9), part.bytes.count(),
                                      pad_left(percent(share), 8));
  const std::string blocks = bar(style, share, bar_width - 8);
  return blocks.empty() ? row + '\n' : row + "  " + paint(style, Colour::blue, blocks) + '\n';
}

std::string stages_section(const MemoryResult& memory, const Style& style) {
  if (memory.stages.size() < 2) return {};
  Table table{{{"stage"}, {"ranks", Align::right}, {"reserved", Align::right}, {"peak at"}}, {}};
  for (const scenarios::StageMemory& stage : memory.stages) {
    table.add_row({stage.program, std::to_string(stage.ranks),
                   human_bytes(stage.report.peak_reserved), stage.report.peak_moment});
  }
  return '\n' + paint(style, Colour::bold, "Stages") + '\n' + to_text(table);
}

}  // namespace

std::string memory_text(const Scenario& scenario, const scenarios::MemoryAnswer& answer,
                        const Style& style) {
  constexpr std::size_t most_assumption_lines = 8;
  const MemoryReport& report = answer.memory.report();
  std::string text = rests_on_section(scenario, answer.profiles, style) + '\n';
  for (const std::string& line : wrap(memory_verdict(answer.memory), text_width)) {
    text += paint(style, Colour::bold, line) + '\n';
  }
  text += fmt::format("\n  {} {:>9} {:>15} {:>8}\n", pad_right("at the peak", 28), "", "bytes",
                      "of GPU");
  for (const Part& part : parts_of(report)) text += part_row(part, report.capacity, style);
  text += part_row({"in all", report.peak_reserved + report.outside}, report.capacity, style);
  text += "\n  The peak stands at " + inert(report.peak_moment) + ".\n";
  return text + stages_section(answer.memory, style) +
         assumptions_section(answer.assumptions, most_assumption_lines, style);
}

}  // namespace stepsim::report
