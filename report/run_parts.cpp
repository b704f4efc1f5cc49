#include "report/run_parts.hpp"

#include "report/text_format.hpp"

#include "topology/peak_flop_rate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace stepsim::report {

using scenarios::Scenario;
using scenarios::StepResult;

namespace {

// «gemm up»: the three products of one linear module stand for one in a line of text.
std::string short_name(const std::string& what) {
  for (const std::string_view suffix : {" dgrad", " wgrad"}) {
    if (what.ends_with(suffix)) return what.substr(0, what.size() - suffix.size());
  }
  return what;
}

std::string short_percent(double share) {
  return share >= 0.0095 ? fmt::format("{:.0f} %", share * 100)
                         : fmt::format("{:.1f} %", share * 100);
}

}  // namespace

double share_of(Time part, Time whole) {
  if (whole.count_ps() == 0) return 0;
  return static_cast<double>(part.count_ps()) / static_cast<double>(whole.count_ps());
}

std::vector<std::string> flops_parts(const Scenario& scenario, const StepResult& result) {
  const auto peak = topology::utilisation_peak(scenario.cluster.node.device);
  return {fmt::format("{} convention", workloads::to_string(scenario.flops_convention)),
          fmt::format("peak {} TFLOP/s a GPU (dense {}, datasheet)",
                      three_digits(result.peak_flops_per_second * 1e-12),
                      topology::to_string(peak.format))};
}

std::vector<std::string> step_parts(const StepResult& result) {
  return {"Step time  " + human_time(result.step_time),
          fmt::format("tps {} per GPU ({} in all)", human_count(result.tokens_per_second_per_gpu),
                      human_count(result.tokens_per_second)),
          "MFU " + percent(result.mfu), "HFU " + percent(result.hfu),
          three_digits(result.model_flops_per_second_per_gpu * 1e-12) + " TFLOP/s per GPU"};
}

std::string uncertainty_sentence(const StepResult& result) {
  const scenarios::StepUncertainty& range = result.uncertainty;
  return fmt::format("{:.0f} % interval  {} to {}: {}", 100 * range.level, human_time(range.low),
                     human_time(range.high), range.basis);
}

std::vector<std::string> measured_parts(const Scenario& scenario, const StepResult& result) {
  std::vector<std::string> parts = {
      human_time(*scenario.measured->step_time_s),
      fmt::format("the prediction is {:.1f} % too {}", std::abs(*result.measured_error) * 100,
                  *result.measured_error < 0 ? "fast" : "slow")};
  if (!scenario.measured->source.empty()) parts.push_back(inert(scenario.measured->source));
  return parts;
}

std::vector<std::string> added_parts(const StepResult& result) {
  constexpr std::size_t most = 4;
  std::vector<std::string> parts;
  for (const scenarios::AddedTime& added : result.added) {
    if (parts.size() == most) break;
    parts.push_back(fmt::format("{} {} ({})", inert(added.cause), human_time(added.time),
                                sim::to_string(added.clock)));
  }
  return parts;
}

std::string contributors(const StepResult& result, sim::Clock clock, std::size_t width) {
  std::vector<std::pair<std::string, Time>> parts;
  for (const scenarios::PathContribution& part : result.contributions) {
    if (part.clock != clock) continue;
    const std::string name = inert(short_name(part.what));
    const auto known = std::find_if(parts.begin(), parts.end(),
                                    [&](const auto& other) { return other.first == name; });
    if (known == parts.end()) {
      parts.emplace_back(name, part.time);
    } else {
      known->second += part.time;
    }
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  constexpr double least_share = 0.0005;
  std::string text;
  for (const auto& [name, time] : parts) {
    const double share = share_of(time, result.step_time);
    if (share < least_share) break;
    const std::string next =
        fmt::format("{}{} {}", text.empty() ? "" : ", ", name, short_percent(share));
    if (display_width(text) + display_width(next) > width) break;
    text += next;
  }
  return text;
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

Table communication_table(const sim::TimeLine& line) {
  Table table{{{"group"},
               {"op"},
               {"count", Align::right},
               {"bytes", Align::right},
               {"busy", Align::right},
               {"exposed", Align::right}},
              {}};
  for (const sim::GroupUse& use : line.communication) {
    table.add_row({use.group, use.op, std::to_string(use.count), human_bytes(use.bytes),
                   human_time(use.busy), human_time(use.exposed)});
  }
  return table;
}

}  // namespace stepsim::report
