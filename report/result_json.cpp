#include "report/result_json.hpp"

#include "report/build_info.hpp"
#include "report/text_format.hpp"
#include "report/verdict_name.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace stepsim::report {

namespace {

using nlohmann::ordered_json;
using scenarios::MemoryResult;
using scenarios::Scenario;
using scenarios::StepResult;

ordered_json breakdown_json(const sim::BytesByKind& bytes) {
  ordered_json breakdown;
  for (std::size_t kind = 0; kind < bytes.size(); ++kind) {
    breakdown[std::string(sim::to_string(static_cast<sim::BufferKind>(kind))) + "_bytes"] =
        bytes[kind].count();
  }
  return breakdown;
}

ordered_json report_json(const workloads::MemoryReport& report) {
  ordered_json outside;
  for (const auto& [name, bytes] : report.outside_parts) outside[name] = bytes.count();
  return {{"peak_allocated_bytes", report.peak_allocated.count()},
          {"peak_reserved_bytes", report.peak_reserved.count()},
          {"outside_bytes", report.outside.count()},
          {"capacity_bytes", report.capacity.count()},
          {"fits", report.fits},
          {"verdict", verdict_name(report.verdict)},
          {"peak_moment", report.peak_moment},
          {"breakdown", breakdown_json(report.breakdown)},
          {"outside_parts", outside}};
}

ordered_json change_json(const scenarios::FitChange& change) {
  return {{"change", change.description},
          {"set", change.overrides},
          {"verdict", verdict_name(change.report.verdict)},
          {"peak_reserved_bytes", change.report.peak_reserved.count()},
          {"outside_bytes", change.report.outside.count()}};
}

ordered_json memory_block(const MemoryResult& memory) {
  ordered_json block = report_json(memory.report());
  ordered_json stages = ordered_json::array();
  for (const scenarios::StageMemory& stage : memory.stages) {
    ordered_json entry = {{"program", stage.program}, {"ranks", stage.ranks}};
    entry.update(report_json(stage.report));
    stages.push_back(std::move(entry));
  }
  block["stages"] = std::move(stages);
  if (memory.remedy) block["remedy"] = change_json(*memory.remedy);
  if (memory.nearest) block["nearest"] = change_json(*memory.nearest);
  return block;
}

ordered_json clocks_block(const sim::CriticalPath& path) {
  ordered_json clocks;
  for (std::size_t i = 0; i < path.by_clock.size(); ++i) {
    clocks[std::string(sim::to_string(static_cast<sim::Clock>(i))) + "_s"] =
        exact_seconds(path.by_clock[i]);
  }
  return clocks;
}

ordered_json critical_path_block(const StepResult& result) {
  ordered_json list = ordered_json::array();
  for (const scenarios::PathContribution& part : result.contributions) {
    list.push_back({{"what", part.what},
                    {"clock", sim::to_string(part.clock)},
                    {"time_s", exact_seconds(part.time)},
                    {"share", part.time.seconds() / result.step_time.seconds()},
                    {"count", part.count}});
  }
  return list;
}

ordered_json added_block(const std::vector<scenarios::AddedTime>& times) {
  ordered_json list = ordered_json::array();
  for (const scenarios::AddedTime& added : times) {
    list.push_back({{"cause", added.cause},
                    {"clock", sim::to_string(added.clock)},
                    {"added_s", exact_seconds(added.time)}});
  }
  return list;
}

ordered_json time_line_block(const sim::TimeLine& line) {
  ordered_json idle;
  for (std::size_t i = 0; i < line.idle_by_cause.size(); ++i) {
    idle[std::string(sim::to_string(static_cast<sim::IdleCause>(i))) + "_s"] =
        exact_seconds(line.idle_by_cause[i]);
  }
  return {{"compute_s", exact_seconds(line.compute)},
          {"bubble_s", exact_seconds(line.bubble)},
          {"exposed_s", exact_seconds(line.exposed)},
          {"idle_s", exact_seconds(line.idle)},
          {"idle_by_cause", idle}};
}

ordered_json communication_block(const sim::TimeLine& line) {
  ordered_json groups = ordered_json::array();
  for (const sim::GroupUse& use : line.communication) {
    groups.push_back({{"group", use.group},
                      {"op", use.op},
                      {"count", use.count},
                      {"bytes", use.bytes.count()},
                      {"busy_s", exact_seconds(use.busy)},
                      {"exposed_s", exact_seconds(use.exposed)}});
  }
  return groups;
}

ordered_json noise_block(const scenarios::StepDistribution& steps) {
  return {{"seeds", steps.seeds},
          {"first_seed", steps.first_seed},
          {"median_seed", steps.median_seed},
          {"mean_s", exact_seconds(steps.mean)},
          {"min_s", exact_seconds(steps.least)},
          {"p10_s", exact_seconds(steps.p10)},
          {"p50_s", exact_seconds(steps.p50)},
          {"p90_s", exact_seconds(steps.p90)},
          {"max_s", exact_seconds(steps.most)}};
}

ordered_json reliability_block(const StepResult& result) {
  const scenarios::Goodput& goodput = *result.goodput;
  return {{"goodput", goodput.mean.work},
          {"goodput_p10", goodput.p10},
          {"goodput_p90", goodput.p90},
          {"effective_mfu", result.mfu * goodput.mean.work},
          {"checkpoint_share", goodput.mean.checkpoints},
          {"lost_share", goodput.mean.lost},
          {"restart_share", goodput.mean.restarts},
          {"failures", goodput.mean.failures},
          {"mean_time_between_failures_s", goodput.run.mean_time_between_failures_s},
          {"checkpoint_interval_s", goodput.run.checkpoint_interval_s},
          {"young_interval_s", goodput.young_interval_s},
          {"daly_interval_s", goodput.daly_interval_s},
          {"goodput_at_daly_interval", goodput.at_daly_interval},
          {"runs", goodput.runs},
          {"run_length_s", goodput.run.length_s},
          {"seed", goodput.seed}};
}

void add_times(ordered_json& document, const Scenario& scenario, const StepResult& result) {
  document["step_time_s"] = exact_seconds(result.step_time);
  document["tokens_per_second"] = result.tokens_per_second;
  document["tokens_per_second_per_gpu"] = result.tokens_per_second_per_gpu;
  document["model_flops_per_second_per_gpu"] = result.model_flops_per_second_per_gpu;
  document["mfu"] = result.mfu;
  document["hfu"] = result.hfu;
  document["flops_convention"] = workloads::to_string(scenario.flops_convention);
  document["peak_flops_per_second"] = result.peak_flops_per_second;
  document["uncertainty"] = {
      {"step_time_s",
       {exact_seconds(result.uncertainty.low), exact_seconds(result.uncertainty.high)}},
      {"level", result.uncertainty.level},
      {"basis", result.uncertainty.basis}};
  if (!result.measured_error) return;
  document["measured"] = {{"step_time_s", *scenario.measured->step_time_s},
                          {"source", scenario.measured->source},
                          {"error", *result.measured_error}};
}

void add_leaves(Table& table, const std::string& path, const ordered_json& value) {
  if (value.is_object() && !value.empty()) {
    for (const auto& [key, child] : value.items()) {
      add_leaves(table, path.empty() ? key : path + '.' + key, child);
    }
  } else if (value.is_array() && !value.empty()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      add_leaves(table, path + '.' + std::to_string(i), value[i]);
    }
  } else {
    table.add_row({path, value.is_string() ? value.get<std::string>() : value.dump()});
  }
}

ordered_json cell_json(const std::string& cell, Align align) {
  if (cell.empty()) return nullptr;
  if (align == Align::left) return cell;
  const ordered_json number = ordered_json::parse(cell, nullptr, false);
  return number.is_number() ? number : ordered_json(cell);
}

}  // namespace

ordered_json provenance_json(const std::vector<scenarios::ProfileUse>& profiles,
                             const std::vector<std::string>& assumptions) {
  ordered_json files = ordered_json::array();
  for (const scenarios::ProfileUse& profile : profiles) {
    files.push_back({{"kind", profile.kind},
                     {"name", profile.name},
                     {"file", profile.file},
                     {"hash", profile.hash}});
  }
  return {{"version", version()},
          {"build", build()},
          {"profiles", files},
          {"assumptions", assumptions},
          {"seed", 0}};
}

ordered_json run_json(const Scenario& scenario, const StepResult& result) {
  ordered_json document = {{"schema", "stepsim.result/1"},
                           {"scenario", scenario_json(scenario)},
                           {"provenance", provenance_json(result.profiles, result.assumptions)}};
  document["provenance"]["seed"] = result.seed;
  add_times(document, scenario, result);
  document["exposed_communication_s"] = exact_seconds(result.time_line.exposed);
  document["communication"] = communication_block(result.time_line);
  document["clocks"] = clocks_block(result.critical_path);
  document["critical_path"] = critical_path_block(result);
  document["clocks_added"] = added_block(result.added);
  document["timeline"] = time_line_block(result.time_line);
  document["busy"] = {{"compute_s", exact_seconds(result.time_line.busy_compute)},
                      {"communication_s", exact_seconds(result.time_line.busy_communication)},
                      {"overlapped_s", exact_seconds(result.time_line.overlapped)}};
  if (result.distribution) document["noise"] = noise_block(*result.distribution);
  if (result.goodput) document["reliability"] = reliability_block(result);
  document["memory"] = memory_block(result.memory);
  document["simulation"] = {{"ranks", result.simulation.ranks},
                            {"classes", result.simulation.classes},
                            {"simulated_ranks", result.simulation.simulated_ranks},
                            {"folded", result.simulation.simulated_ranks < result.simulation.ranks},
                            {"executor", result.simulation.executor},
                            {"ops", result.simulation.ops},
                            {"wall_s", result.simulation.wall_s},
                            {"threads", result.simulation.threads}};
  return document;
}

ordered_json memory_json(const Scenario& scenario, const scenarios::MemoryAnswer& answer) {
  return {{"schema", "stepsim.memory/1"},
          {"scenario", scenario_json(scenario)},
          {"provenance", provenance_json(answer.profiles, answer.assumptions)},
          {"memory", memory_block(answer.memory)}};
}

Table key_value_table(const ordered_json& document) {
  Table table{{{"key"}, {"value"}}, {}};
  add_leaves(table, "", document);
  return table;
}

ordered_json table_json(const Table& table) {
  ordered_json rows = ordered_json::array();
  for (const auto& row : table.rows) {
    ordered_json object;
    for (std::size_t i = 0; i < row.size(); ++i) {
      object[table.columns[i].name] = cell_json(row[i], table.columns[i].align);
    }
    rows.push_back(std::move(object));
  }
  return rows;
}

std::string to_json_text(const ordered_json& document) {
  return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace stepsim::report
