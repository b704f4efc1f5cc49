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

std::string part_row(const MemoryPart& part, Bytes capacity, const Style& style) {
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
  return '\n' + paint(style, Colour::bold, "Stages") + '\n' + to_text(stages_table(memory));
}

}  // namespace

std::string memory_text(const Scenario& scenario, const scenarios::MemoryAnswer& answer,
                        const Style& style) {
  const MemoryReport& report = answer.memory.report();
  std::string text = rests_on_section(scenario, answer.profiles, style) + '\n';
  for (const std::string& line : wrap(memory_verdict(answer.memory), text_width)) {
    text += paint(style, Colour::bold, line) + '\n';
  }
  text += fmt::format("\n  {} {:>9} {:>15} {:>8}\n", pad_right("at the peak", 28), "", "bytes",
                      "of GPU");
  for (const MemoryPart& part : all_memory_parts(report))
    text += part_row(part, report.capacity, style);
  text += part_row({"in all", report.peak_reserved + report.outside}, report.capacity, style);
  text += "\n  The peak stands at " + inert(report.peak_moment) + ".\n";
  return text + stages_section(answer.memory, style) +
         assumptions_section(answer.assumptions, style);
}

}  // namespace stepsim::report
