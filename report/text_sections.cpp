#include "report/text_sections.hpp"

#include "report/build_info.hpp"
#include "report/text_format.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stepsim::report {

namespace {

using scenarios::Scenario;
using workloads::FitVerdict;

using Parts = std::vector<std::string>;

Parts model_parts(const Scenario& scenario) {
  const workloads::Model& model = scenario.model;
  const auto parameters = static_cast<double>(workloads::parameter_count(model));
  return {inert(model.name), human_count(parameters) + " parameters",
          fmt::format("{} layers", model.layers), fmt::format("hidden {}", model.hidden),
          fmt::format("{} heads, {} kv", model.heads, model.kv_heads)};
}

const char* fabric_name(topology::FabricKind kind) {
  switch (kind) {
    case topology::FabricKind::single_switch:
      return "single switch";
    case topology::FabricKind::rail_optimized:
      return "rail-optimized";
    case topology::FabricKind::fat_tree:
      return "fat tree";
  }
  return "";
}

Parts cluster_parts(const Scenario& scenario, const Style& style) {
  const topology::Cluster& cluster = scenario.cluster;
  const topology::Node& node = cluster.node;
  Parts parts = {fmt::format("{} {} {}", cluster.gpus, times(style), inert(node.device.name)),
                 fmt::format("{} {} {}", cluster.nodes, times(style), inert(node.name))};
  if (cluster.nodes > 1) {
    const double gigabits = node.nic_bandwidth.value.bytes_per_second() * 8e-9;
    parts.push_back(
        fmt::format("{} {} {} Gb/s a node", node.nics.value, times(style), three_digits(gigabits)));
    parts.emplace_back(fabric_name(cluster.fabric));
    if (cluster.oversubscription != 1.0) {
      parts.push_back(fmt::format("oversubscribed {}:1", three_digits(cluster.oversubscription)));
    }
    if (topology::pods_of(cluster) > 1) {
      parts.push_back(fmt::format("pods of {} nodes, oversubscribed {}:1", cluster.nodes_per_pod,
                                  three_digits(cluster.pod_oversubscription)));
    }
    if (cluster.ecmp_seed) parts.emplace_back("flows hashed");
  }
  return parts;
}

void add_megatron_parts(const workloads::Plan& plan, Parts& parts) {
  if (plan.tp > 1) {
    parts.push_back(
        fmt::format("tp {}{}", plan.tp, plan.sequence_parallel ? " with sequence parallel" : ""));
  }
  if (plan.pp > 1) {
    const bool interleaved = plan.schedule == workloads::PipelineSchedule::interleaved;
    parts.push_back(fmt::format("pp {} {}{}", plan.pp, workloads::to_string(plan.schedule),
                                interleaved ? fmt::format(" {}", plan.virtual_stages) : ""));
  }
  if (plan.distributed_optimizer) parts.emplace_back("distributed optimizer");
  if (plan.overlap_grad_reduce) {
    parts.emplace_back(plan.overlap_param_gather ? "gradients and parameters overlapped"
                                                 : "gradients overlapped");
  }
}

Parts plan_parts(const Scenario& scenario) {
  const workloads::Plan& plan = scenario.plan;
  Parts parts = {workloads::to_string(plan.strategy)};
  if (plan.strategy == workloads::Strategy::fsdp2) {
    parts.push_back(fmt::format("shard {}", plan.shard));
  }
  if (plan.replicate > 1 || plan.strategy == workloads::Strategy::ddp) {
    parts.push_back(fmt::format("replicate {}", plan.replicate));
  }
  if (plan.strategy == workloads::Strategy::megatron) add_megatron_parts(plan, parts);
  if (plan.strategy == workloads::Strategy::fsdp2) {
    parts.emplace_back(plan.reshard_after_forward ? "reshard after forward"
                                                  : "parameters kept after forward");
  }
  const std::int64_t replicas = std::int64_t{plan.shard} * plan.replicate;
  const std::int64_t micro_batches =
      scenario.training.global_batch /
      std::max<std::int64_t>(1, scenario.training.micro_batch * replicas);
  parts.push_back(fmt::format("{} micro-batch{} of {}", micro_batches,
                              micro_batches == 1 ? "" : "es", scenario.training.micro_batch));
  return parts;
}

std::string recomputation_text(workloads::CheckpointKind kind) {
  if (kind == workloads::CheckpointKind::none) return "no recomputation";
  return fmt::format("{} recomputation", workloads::to_string(kind));
}

Parts training_parts(const Scenario& scenario, const Style& style) {
  const workloads::Training& training = scenario.training;
  const workloads::Software& software = scenario.software;
  Parts parts = {fmt::format("{} sequences {} {} tokens", training.global_batch, times(style),
                             training.sequence_length),
                 workloads::to_string(training.precision),
                 recomputation_text(training.activation_checkpointing),
                 software.compile ? "compiled" : "eager",
                 workloads::to_string(software.attention),
                 "NCCL " + inert(software.nccl.version)};
  if (software.cuda_graph) parts.emplace_back("CUDA graph");
  return parts;
}

// «fit in», or what it would be instead: the words of the verdict.
std::string change_text(const scenarios::FitChange& change) {
  const workloads::MemoryReport& report = change.report;
  const char* would = report.verdict == FitVerdict::fits    ? "it would fit in"
                      : report.verdict == FitVerdict::tight ? "it would be tight, in"
                                                            : "it would come nearest, at";
  std::string overrides;
  for (const std::string& override : change.overrides) overrides += " --set " + override;
  const Bytes used = report.peak_reserved + report.outside;
  return fmt::format("With {} {} {} ({}):{}", change.description, would, human_bytes(used),
                     percent(used.gib() / report.capacity.gib()), overrides);
}

std::string advice(const scenarios::MemoryResult& memory) {
  if (memory.remedy) return ' ' + change_text(*memory.remedy);
  const std::string none = " No change or pair of changes tried makes it fit.";
  return memory.nearest ? none + ' ' + change_text(*memory.nearest) : none;
}

}  // namespace

std::string labelled(const std::string& label, const std::vector<std::string>& parts,
                     const Style& style) {
  constexpr std::size_t label_width = 11;
  std::string result;
  std::string start = pad_right(label, label_width);
  for (const std::string& line : wrap_parts(parts, dot(style), text_width - label_width)) {
    result += start + line + '\n';
    start = std::string(label_width, ' ');
  }
  return result;
}

std::string title(const std::string& what, const Style& style) {
  const std::string name = "stepsim " + version();
  std::string text = paint(style, Colour::bold, name);
  std::string start = "  ";
  for (const std::string& line : wrap(what, text_width - name.size() - start.size())) {
    text += start + line + '\n';
    start = std::string(name.size() + 2, ' ');
  }
  return text;
}

std::vector<std::string> profile_parts(const std::vector<scenarios::ProfileUse>& profiles) {
  constexpr std::size_t digits = 8;
  Parts parts;
  std::string last_kind;
  for (const scenarios::ProfileUse& profile : profiles) {
    const std::string hash = inert(profile.hash.substr(0, digits));
    if (profile.kind == last_kind) {
      parts.back() += ' ' + hash;
    } else {
      parts.push_back(profile.kind + ' ' + hash);
    }
    last_kind = profile.kind;
  }
  return parts;
}

std::string heading(const Style& style, const std::string& title, const std::string& note) {
  const std::string tail = note.empty() ? "" : "  " + paint(style, Colour::dim, note);
  return '\n' + paint(style, Colour::bold, title) + tail + '\n';
}

std::string part_lines(const std::vector<std::string>& parts, const Style& style) {
  std::string text;
  for (const std::string& line : wrap_parts(parts, dot(style), text_width - 2)) {
    text += "  " + line + '\n';
  }
  return text;
}

std::vector<LabelledParts> rests_on(const Scenario& scenario,
                                    const std::vector<scenarios::ProfileUse>& profiles,
                                    const Style& style) {
  return {{"model", model_parts(scenario)},
          {"cluster", cluster_parts(scenario, style)},
          {"plan", plan_parts(scenario)},
          {"training", training_parts(scenario, style)},
          {"profiles", profile_parts(profiles)}};
}

std::string rests_on_section(const Scenario& scenario,
                             const std::vector<scenarios::ProfileUse>& profiles,
                             const Style& style) {
  std::string text = title(inert(scenario.file), style) + '\n';
  for (const auto& [label, parts] : rests_on(scenario, profiles, style)) {
    text += labelled(label, parts, style);
  }
  return text;
}

std::string capacity_text(Bytes bytes) { return fmt::format("{:.2f} GiB", bytes.gib()); }

std::string memory_verdict(const scenarios::MemoryResult& memory) {
  const workloads::MemoryReport& report = memory.report();
  const Bytes used = report.peak_reserved + report.outside;
  std::string text =
      fmt::format("{} ({}) of {}: ", human_bytes(used), percent(used.gib() / report.capacity.gib()),
                  capacity_text(report.capacity));
  if (!report.fits) {
    text += fmt::format("does not fit, {} too much.", human_bytes(used - report.capacity));
    return text + advice(memory);
  }
  const bool tight = report.verdict == FitVerdict::tight;
  text +=
      fmt::format("{}, {} to spare", tight ? "tight" : "fits", human_bytes(report.capacity - used));
  if (tight) {
    text += "; above 92 % the allocator may thrash, up to 25 % slower";
  }
  return text;
}

std::vector<std::pair<std::string, Bytes>> memory_parts(const workloads::MemoryReport& report) {
  std::vector<std::pair<std::string, Bytes>> parts;
  for (std::size_t kind = 0; kind < report.breakdown.size(); ++kind) {
    if (report.breakdown[kind].count() == 0) continue;
    parts.emplace_back(sim::to_string(static_cast<sim::BufferKind>(kind)), report.breakdown[kind]);
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return parts;
}

std::vector<MemoryPart> all_memory_parts(const workloads::MemoryReport& report) {
  std::vector<MemoryPart> parts;
  for (const auto& [name, bytes] : memory_parts(report)) parts.push_back({name, bytes});
  parts.push_back({"rounding and fragmentation", report.peak_reserved - report.peak_allocated});
  for (const auto& [name, bytes] : report.outside_parts) parts.push_back({name, bytes});
  return parts;
}

Table stages_table(const scenarios::MemoryResult& memory) {
  Table table{{{"stage"}, {"ranks", Align::right}, {"reserved", Align::right}, {"peak at"}}, {}};
  for (const scenarios::StageMemory& stage : memory.stages) {
    table.add_row({stage.program, std::to_string(stage.ranks),
                   human_bytes(stage.report.peak_reserved), stage.report.peak_moment});
  }
  return table;
}

std::vector<std::string> by_topic(const std::vector<std::string>& items) {
  std::vector<std::string> joined;
  for (const std::string& item : items) {
    const std::size_t colon = item.find(": ");
    const std::string topic = item.substr(0, colon == std::string::npos ? 0 : colon + 2);
    const auto same = std::find_if(joined.begin(), joined.end(), [&](const std::string& other) {
      return !topic.empty() && other.starts_with(topic);
    });
    if (same == joined.end()) {
      joined.push_back(item);
    } else {
      *same += "; " + item.substr(topic.size());
    }
  }
  return joined;
}

std::string assumptions_section(const std::vector<std::string>& assumptions, const Style& style) {
  if (assumptions.empty()) return {};
  std::string text = heading(style, "Assumes", "what nobody measured or stated");
  for (const std::string& item : by_topic(assumptions)) {
    std::string start = "  - ";
    for (const std::string& line : wrap(inert(item), text_width - 4)) {
      text += start + line + '\n';
      start = "    ";
    }
  }
  return text;
}

}  // namespace stepsim::report
