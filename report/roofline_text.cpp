#include "report/roofline_text.hpp"

#include "report/build_info.hpp"
#include "report/clock_bars.hpp"
#include "report/result_json.hpp"
#include "report/text_format.hpp"
#include "report/text_sections.hpp"

#include "sim/job.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace stepsim::report {

namespace {

using nlohmann::ordered_json;
using scenarios::RooflineAnswer;
using scenarios::RooflinePoint;
using sim::Clock;

double achieved(const RooflinePoint& point) { return point.flops / point.time.total_s; }

std::string size_text(const workloads::Gemm& gemm, const Style& style) {
  return fmt::format("{0} {3} {1} {3} {2}", gemm.m, gemm.n, gemm.k, times(style));
}

std::string point_section(const RooflinePoint& point, const RooflineAnswer& answer,
                          const Style& style) {
  const double peak = answer.rates.compute.flops_per_second();
  std::string text =
      heading(style, "gemm " + size_text(point.gemm, style),
              fmt::format("{} FLOP, {}, {} FLOP/B: {}-bound", human_count(point.flops),
                          human_bytes(Bytes(static_cast<std::int64_t>(point.bytes))),
                          three_digits(point.intensity), to_string(point.clocks.top())));
  text += clock_bars(point.clocks, style);
  return text + fmt::format("  modelled {} {}   {} TFLOP/s, {} of peak{}\n", pad_right("", 5),
                            pad_left(human_time(point.time.total_s), 9),
                            three_digits(achieved(point) * 1e-12), percent(achieved(point) / peak),
                            point.time.assumed ? " (assumed)" : "");
}

ordered_json point_json(const RooflinePoint& point) {
  return {{"m", point.gemm.m},
          {"n", point.gemm.n},
          {"k", point.gemm.k},
          {"flops", point.flops},
          {"bytes", point.bytes},
          {"intensity_flop_per_byte", point.intensity},
          {"compute_s", point.clocks[Clock::compute]},
          {"memory_s", point.clocks[Clock::memory]},
          {"overhead_s", point.clocks[Clock::overhead]},
          {"top", to_string(point.clocks.top())},
          {"modelled_s", point.time.total_s},
          {"modelled_flops_per_second", achieved(point)},
          {"assumed", point.time.assumed}};
}

}  // namespace

std::string roofline_text(const RooflineAnswer& answer, const Style& style) {
  const topology::Device& device = answer.device;
  std::string text =
      paint(style, Colour::bold, "stepsim " + version()) + "  roofline\n\n" +
      labelled("GPU", {inert(device.name), inert(device.description)}, style) +
      labelled(
          "peak",
          {fmt::format("{} TFLOP/s {}, dense",
                       three_digits(answer.rates.compute.flops_per_second() * 1e-12),
                       to_string(answer.format)),
           fmt::format("{} TB/s", three_digits(answer.rates.memory.bytes_per_second() * 1e-12))},
          style) +
      labelled("ridge",
               {fmt::format("{} FLOP/B", three_digits(answer.ridge)),
                "below it the memory is the clock, above it the arithmetic"},
               style) +
      labelled("launch", {human_time(answer.launch_s) + " of host time a kernel"}, style) +
      labelled("profiles", profile_parts(answer.profiles), style);
  for (const RooflinePoint& point : answer.points) text += point_section(point, answer, style);
  return text + assumptions_section(answer.assumptions, style);
}

Table roofline_table(const RooflineAnswer& answer) {
  if (answer.points.empty()) {
    Table table{{{"device"},
                 {"format"},
                 {"peak_TFLOP/s", Align::right},
                 {"memory_TB/s", Align::right},
                 {"ridge_FLOP/B", Align::right}},
                {}};
    table.add_row({answer.device.name, to_string(answer.format),
                   fmt::format("{}", answer.rates.compute.flops_per_second() * 1e-12),
                   fmt::format("{}", answer.rates.memory.bytes_per_second() * 1e-12),
                   fmt::format("{:.2f}", answer.ridge)});
    return table;
  }
  Table table{{}, {}};
  const ordered_json first = point_json(answer.points.front());
  for (const auto& entry : first.items()) {
    table.columns.push_back({entry.key(), entry.key() == "top" ? Align::left : Align::right});
  }
  for (const RooflinePoint& point : answer.points) {
    std::vector<std::string> cells;
    const ordered_json numbers = point_json(point);
    for (const auto& entry : numbers.items()) {
      const ordered_json& value = entry.value();
      cells.push_back(value.is_string() ? value.get<std::string>() : value.dump());
    }
    table.add_row(std::move(cells));
  }
  return table;
}

ordered_json roofline_json(const RooflineAnswer& answer) {
  ordered_json points = ordered_json::array();
  for (const RooflinePoint& point : answer.points) points.push_back(point_json(point));
  return {{"schema", "stepsim.roofline/1"},
          {"device", answer.device.name},
          {"format", to_string(answer.format)},
          {"provenance", provenance_json(answer.profiles, answer.assumptions)},
          {"peak_flops_per_second", answer.rates.compute.flops_per_second()},
          {"memory_bytes_per_second", answer.rates.memory.bytes_per_second()},
          {"ridge_flop_per_byte", answer.ridge},
          {"launch_s", answer.launch_s},
          {"gemms", points}};
}

}  // namespace stepsim::report
