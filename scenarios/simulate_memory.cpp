#include "scenarios/simulate_memory.hpp"

#include "scenarios/cost_models.hpp"
#include "scenarios/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace stepsim::scenarios {

namespace {

using workloads::CheckpointKind;
using workloads::Strategy;

Bytes needed(const workloads::MemoryReport& report) {
  return report.peak_reserved + report.outside;
}

MemoryResult memory_of(const workloads::StepInput& input, const workloads::Step& step) {
  MemoryResult result;
  for (std::uint32_t id = 0; id < step.job.programs.size(); ++id) {
    const sim::ProgramId program{id};
    const auto runs_it = [&](const sim::RankSetup& rank) { return rank.program == program; };
    const auto ranks = std::count_if(step.job.ranks.begin(), step.job.ranks.end(), runs_it);
    result.stages.push_back(
        {step.job.programs[id].name, ranks, workloads::report_memory(input, step, program)});
    const auto& fullest = result.stages[result.fullest].report;
    if (needed(result.stages.back().report) > needed(fullest)) result.fullest = id;
  }
  return result;
}

/// A scenario with one thing changed.
struct Candidate {
  Scenario scenario;
  std::vector<std::string> overrides;
  std::string description;
};

void add_reshard(std::vector<Candidate>& candidates, const Scenario& scenario) {
  if (scenario.plan.strategy != Strategy::fsdp2 || scenario.plan.reshard_after_forward) return;
  Candidate candidate{scenario, {"plan.reshard_after_forward=true"}, "resharding after forward"};
  candidate.scenario.plan.reshard_after_forward = true;
  candidates.push_back(std::move(candidate));
}

void add_checkpointing(std::vector<Candidate>& candidates, const Scenario& scenario,
                       CheckpointKind kind) {
  if (scenario.training.activation_checkpointing >= kind) return;
  const std::string name = workloads::to_string(kind);
  Candidate candidate{
      scenario, {"training.activation_checkpointing=" + name}, name + " activation checkpointing"};
  candidate.scenario.training.activation_checkpointing = kind;
  candidates.push_back(std::move(candidate));
}

void add_micro_batches(std::vector<Candidate>& candidates, const Scenario& scenario) {
  std::int64_t size = scenario.training.micro_batch;
  while (size > 1) {
    size = size % 2 == 0 ? size / 2 : 1;
    Candidate candidate{scenario,
                        {fmt::format("training.micro_batch={}", size)},
                        fmt::format("a micro-batch of {}", size)};
    candidate.scenario.training.micro_batch = size;
    candidates.push_back(std::move(candidate));
  }
}

void add_sharding(std::vector<Candidate>& candidates, const Scenario& scenario) {
  if (scenario.plan.strategy != Strategy::ddp || scenario.cluster.gpus == 1) return;
  Candidate candidate{scenario, {"plan.strategy=fsdp2"}, "fsdp2 instead of ddp"};
  candidate.scenario.plan.strategy = Strategy::fsdp2;
  candidate.scenario.plan.shard = scenario.cluster.gpus;
  candidate.scenario.plan.replicate = 1;
  candidates.push_back(std::move(candidate));
}

// Whole nodes only, the batch of each GPU kept.
void add_gpus(std::vector<Candidate>& candidates, const Scenario& scenario) {
  constexpr int most_nodes = 512;
  const bool whole = scenario.cluster.gpus == scenario.cluster.nodes * scenario.cluster.node.gpus;
  if (scenario.plan.strategy != Strategy::fsdp2 || !whole) return;
  for (int times = 2; scenario.cluster.nodes * times <= most_nodes; times *= 2) {
    Candidate candidate{scenario, {}, ""};
    Scenario& larger = candidate.scenario;
    larger.cluster.nodes *= times;
    larger.cluster.gpus *= times;
    larger.plan.shard *= times;
    larger.training.global_batch *= times;
    candidate.overrides = {fmt::format("cluster.nodes={}", larger.cluster.nodes),
                           fmt::format("plan.shard={}", larger.plan.shard),
                           fmt::format("training.global_batch={}", larger.training.global_batch)};
    candidate.description = fmt::format("{} GPUs", larger.cluster.gpus);
    candidates.push_back(std::move(candidate));
  }
}

// From what costs the step least to what costs it, or the budget, most.
std::vector<Candidate> candidates_of(const Scenario& scenario) {
  std::vector<Candidate> candidates;
  add_reshard(candidates, scenario);
  add_checkpointing(candidates, scenario, CheckpointKind::selective);
  add_micro_batches(candidates, scenario);
  add_checkpointing(candidates, scenario, CheckpointKind::full);
  add_sharding(candidates, scenario);
  add_gpus(candidates, scenario);
  return candidates;
}

std::optional<FitChange> remedy(const DataDirectory& data, const Scenario& scenario) {
  for (const Candidate& candidate : candidates_of(scenario)) {
    const workloads::MemoryReport report = fullest_stage(data, candidate.scenario);
    if (report.fits) return FitChange{candidate.overrides, candidate.description, report};
  }
  return std::nullopt;
}

}  // namespace

workloads::MemoryReport fullest_stage(const DataDirectory& data, const Scenario& scenario) {
  const CostModels models(data, scenario);
  const workloads::StepInput input = models.input(scenario);
  return memory_of(input, workloads::build_memory_step(input)).report();
}

MemoryResult memory_with_remedy(const DataDirectory& data, const Scenario& scenario,
                                const workloads::StepInput& input, const workloads::Step& step) {
  MemoryResult memory = memory_of(input, step);
  if (!memory.report().fits) memory.remedy = remedy(data, scenario);
  return memory;
}

MemoryAnswer account_memory(const DataDirectory& data, const Scenario& scenario) {
  const CostModels models(data, scenario);
  const workloads::StepInput input = models.input(scenario);
  const workloads::Step step = workloads::build_step(input);
  return {memory_with_remedy(data, scenario, input, step), models.profiles(scenario),
          models.assumptions(scenario, step)};
}

}  // namespace stepsim::scenarios
