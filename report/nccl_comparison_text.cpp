#include "report/nccl_comparison_text.hpp"

#include "report/build_info.hpp"
#include "report/text_format.hpp"
#include "report/text_sections.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace stepsim::report {

using calibrate::ComparedSize;
using calibrate::CurveVerdict;
using calibrate::NcclComparison;
using calibrate::NcclTestsLog;
using calibrate::Suspect;

namespace {

std::string size_text(Bytes bytes) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::int64_t count = bytes.count();
  std::size_t unit = 0;
  while (unit < 4 && count > 0 && count % 1024 == 0) {
    count /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", count, units[unit]);
}

std::string group_text(const NcclComparison& comparison) {
  const auto& cluster = comparison.measured.cluster;
  return fmt::format("{} GPUs on {} of {}", comparison.measured.members.size(), cluster.nodes,
                     inert(cluster.node.name));
}

std::vector<std::string> log_parts(const NcclTestsLog& log) {
  std::vector<std::string> parts = {
      fmt::format("{} ({})", to_string(log.collective), inert(log.collective_from))};
  if (!log.device.empty()) parts.push_back(inert(log.device));
  if (!log.version.empty()) parts.push_back("nccl-tests " + inert(log.version));
  if (!log.nccl_version.empty()) parts.push_back("NCCL " + inert(log.nccl_version));
  return parts;
}

std::string nccl_text(const topology::NcclSettings& nccl) {
  return fmt::format("NCCL {}'s own choice, times factors fitted to measurements", nccl.version);
}

Colour colour_of(CurveVerdict verdict) {
  switch (verdict) {
    case CurveVerdict::as_expected:
      return Colour::green;
    case CurveVerdict::slow:
      return Colour::red;
    case CurveVerdict::fast:
      return Colour::yellow;
  }
  return Colour::none;
}

std::string wrapped(const std::string& text, std::size_t indent) {
  std::string result;
  for (const std::string& line : wrap(text, text_width - indent)) {
    result += std::string(indent, ' ') + line + '\n';
  }
  return result;
}

std::string suspects_section(const NcclComparison& comparison, const Style& style) {
  if (comparison.suspects.empty()) return {};
  std::string text = '\n' + paint(style, Colour::bold, "Likely reasons") + "  " +
                     paint(style, Colour::dim, "simulated, ranked by how well they fit the curve") +
                     '\n';
  int number = 0;
  for (const Suspect& suspect : comparison.suspects) {
    text += wrapped(fmt::format("{}. {} ({:.0f} % off on average)", ++number, inert(suspect.cause),
                                100 * suspect.error),
                    2);
    text += wrapped("predicts: " + inert(suspect.predicts), 5);
    text += wrapped("confirm:  " + inert(suspect.test), 5);
  }
  return text;
}

std::string launch_section(const NcclComparison& comparison) {
  if (!comparison.launch) return {};
  return '\n' + wrapped("Small messages: " + inert(comparison.launch->cause) +
                            ". Confirm: " + comparison.launch->test + ".",
                        0);
}

std::string notes_section(const NcclComparison& comparison, const Style& style) {
  if (comparison.notes.empty()) return {};
  std::string text = '\n' + paint(style, Colour::bold, "Notes") + '\n';
  for (const std::string& note : comparison.notes) text += wrapped("- " + inert(note), 2);
  return text;
}

nlohmann::ordered_json suspect_json(const Suspect& suspect) {
  return {{"key", suspect.key},
          {"cause", suspect.cause},
          {"predicts", suspect.predicts},
          {"test", suspect.test},
          {"mean_log_error", suspect.error}};
}

nlohmann::ordered_json size_json(const ComparedSize& size) {
  return {{"bytes", size.bytes.count()},
          {"measured_us", size.measured_us},
          {"measured_bus_gb_per_s", size.measured_gb_per_s},
          {"expected_us", size.expected_us},
          {"expected_bus_gb_per_s", size.expected_gb_per_s},
          {"ratio", size.ratio},
          {"algorithm", size.algorithm},
          {"assumed", size.assumed}};
}

}  // namespace

std::string nccl_verdict_sentence(const NcclComparison& comparison) {
  const std::string reached =
      fmt::format("from {} up it reaches {:.0f} % of the expected bus bandwidth",
                  size_text(comparison.large_from), 100 * comparison.large_ratio);
  if (comparison.verdict == CurveVerdict::as_expected) return "As expected: " + reached + ".";
  const std::string what = comparison.verdict == CurveVerdict::slow ? "Slower than expected: "
                                                                    : "Faster than expected: ";
  if (comparison.suspects.empty()) {
    return what + reached + ". Nothing that was simulated explains it.";
  }
  const Suspect& first = comparison.suspects.front();
  if (!comparison.explained) {
    return what + reached +
           fmt::format(". Nothing that was simulated fits well; the nearest ({}) is {:.0f} % off.",
                       first.cause, 100 * first.error);
  }
  return what + reached + ". Likeliest: " + first.cause + ".";
}

Table nccl_comparison_table(const NcclComparison& comparison) {
  Table table{{{"size", Align::right},
               {"time_us", Align::right},
               {"busbw", Align::right},
               {"expected_us", Align::right},
               {"expected_busbw", Align::right},
               {"ratio", Align::right},
               {"expected_algorithm"},
               {"assumed"}},
              {}};
  for (const ComparedSize& size : comparison.sizes) {
    table.add_row({std::to_string(size.bytes.count()), three_digits(size.measured_us),
                   three_digits(size.measured_gb_per_s), three_digits(size.expected_us),
                   three_digits(size.expected_gb_per_s), fmt::format("{:.2f}", size.ratio),
                   size.algorithm, size.assumed ? "yes" : ""});
  }
  return table;
}

std::string nccl_comparison_text(const NcclTestsLog& log, const NcclComparison& comparison,
                                 const Style& style) {
  std::string text = fmt::format("stepsim {}  {}\n", version(), inert(log.file));
  text += labelled("measured", log_parts(log), style);
  text += labelled("cluster", {group_text(comparison)}, style);
  text += labelled("expected", {nccl_text(comparison.measured.nccl)}, style);
  text += '\n';
  for (const std::string& line : wrap(inert(nccl_verdict_sentence(comparison)), text_width)) {
    text += paint(style, colour_of(comparison.verdict), line) + '\n';
  }
  text += suspects_section(comparison, style) + launch_section(comparison);
  text +=
      '\n' + paint(style, Colour::bold, "By size") + "  " +
      paint(style, Colour::dim,
            "bytes, us and GB/s; the faster of out-of-place and in-place; ratio of bandwidths") +
      '\n' + to_text(nccl_comparison_table(comparison));
  return text + notes_section(comparison, style);
}

nlohmann::ordered_json nccl_comparison_json(const NcclTestsLog& log,
                                            const NcclComparison& comparison) {
  const auto& cluster = comparison.measured.cluster;
  nlohmann::ordered_json json;
  json["schema"] = "stepsim.nccl_tests/1";
  json["file"] = log.file;
  json["hash"] = log.hash;
  json["version"] = version();
  json["collective"] = to_string(log.collective);
  json["node"] = cluster.node.name;
  json["nodes"] = cluster.nodes;
  json["gpus"] = comparison.measured.members.size();
  json["nccl"] = comparison.measured.nccl.version;
  json["verdict"] = to_string(comparison.verdict);
  json["sentence"] = nccl_verdict_sentence(comparison);
  json["large_from_bytes"] = comparison.large_from.count();
  json["large_ratio"] = comparison.large_ratio;
  json["mean_log_error"] = comparison.expected_error;
  json["explained"] = comparison.explained;
  json["suspects"] = nlohmann::ordered_json::array();
  for (const Suspect& suspect : comparison.suspects) {
    json["suspects"].push_back(suspect_json(suspect));
  }
  if (comparison.launch) json["launch"] = suspect_json(*comparison.launch);
  json["sizes"] = nlohmann::ordered_json::array();
  for (const ComparedSize& size : comparison.sizes) json["sizes"].push_back(size_json(size));
  json["notes"] = comparison.notes;
  return json;
}

}  // namespace stepsim::report
