#include "scenarios/memory_remedy.hpp"

#include "scenarios/simulate.hpp"

#include "sim/base/error.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

namespace stepsim::scenarios {

namespace {

using workloads::CheckpointKind;
using workloads::FitVerdict;
using workloads::MemoryReport;
using workloads::Strategy;

/// What a change turns; two changes of a pair turn different things, the first the earlier one.
enum class Lever { reshard, cut, checkpointing, micro_batch, sharding, gpus };

struct Change {
  Lever lever;
  std::vector<std::string> overrides;
  std::string description;
};

using Changes = std::vector<Change>;

bool is_written(const Scenario& scenario, const char* block, const char* key) {
  const DocumentNode* node = scenario.document.find(block);
  return node != nullptr && node->is_map() && node->find(key) != nullptr;
}

void add_reshard(Changes& changes, const Scenario& scenario) {
  if (scenario.plan.strategy != Strategy::fsdp2 || scenario.plan.reshard_after_forward) return;
  changes.push_back(
      {Lever::reshard, {"plan.reshard_after_forward=true"}, "resharding after forward"});
}

// What Megatron-LM can cut further at no cost to speak of.
void add_megatron_cuts(Changes& changes, const Scenario& scenario) {
  const workloads::Plan& plan = scenario.plan;
  if (plan.strategy != Strategy::megatron) return;
  if (plan.tp > 1 && !plan.sequence_parallel)
    changes.push_back({Lever::cut, {"plan.sequence_parallel=true"}, "sequence parallelism"});
  if (plan.replicate > 1 && !plan.distributed_optimizer)
    changes.push_back({Lever::cut, {"plan.distributed_optimizer=true"}, "a distributed optimizer"});
  if (changes.size() == 2)
    changes.push_back({Lever::cut,
                       {"plan.sequence_parallel=true", "plan.distributed_optimizer=true"},
                       "sequence parallelism with a distributed optimizer"});
}

void add_checkpointing(Changes& changes, const Scenario& scenario, CheckpointKind kind) {
  if (scenario.training.activation_checkpointing >= kind) return;
  const std::string name = workloads::to_string(kind);
  changes.push_back({Lever::checkpointing,
                     {"training.activation_checkpointing=" + name},
                     name + " activation checkpointing"});
}

void add_micro_batches(Changes& changes, const Scenario& scenario) {
  std::int64_t size = scenario.training.micro_batch;
  while (size > 1) {
    size = size % 2 == 0 ? size / 2 : 1;
    changes.push_back({Lever::micro_batch,
                       {fmt::format("training.micro_batch={}", size)},
                       fmt::format("a micro-batch of {}", size)});
  }
}

// Keys of ddp that the file has would be refused beside fsdp2, and its degrees are ddp's.
void add_sharding(Changes& changes, const Scenario& scenario) {
  if (scenario.plan.strategy != Strategy::ddp || scenario.cluster.gpus == 1) return;
  Change change{Lever::sharding, {"plan.strategy=fsdp2"}, "fsdp2 instead of ddp"};
  const auto replace = [&](const char* key, const std::string& value) {
    if (!is_written(scenario, "plan", key)) return;
    change.overrides.push_back(fmt::format("plan.{}={}", key, value));
  };
  replace("replicate", "1");
  replace("shard", std::to_string(scenario.cluster.gpus));
  replace("bucket_size", "null");
  replace("gradient_as_bucket_view", "null");
  changes.push_back(std::move(change));
}

// Whole nodes only, the batch of each GPU kept. Keys that are not written follow by themselves.
void add_gpus(Changes& changes, const Scenario& scenario) {
  constexpr int most_nodes = 512;
  const topology::Cluster& cluster = scenario.cluster;
  const bool whole = cluster.gpus == cluster.nodes * cluster.node.gpus;
  if (scenario.plan.strategy != Strategy::fsdp2 || !whole) return;
  for (int times = 2; cluster.nodes * times <= most_nodes; times *= 2) {
    const int gpus = cluster.gpus * times;
    Change change{Lever::gpus, {}, fmt::format("{} GPUs", gpus)};
    const auto replace = [&](const char* block, const char* key, std::int64_t value) {
      if (!is_written(scenario, block, key)) return;
      change.overrides.push_back(fmt::format("{}.{}={}", block, key, value));
    };
    replace("cluster", "nodes", cluster.nodes * times);
    replace("cluster", "gpus", gpus);
    replace("plan", "shard", scenario.plan.shard * times);
    replace("training", "global_batch", scenario.training.global_batch * times);
    changes.push_back(std::move(change));
  }
}

// From what costs the step least to what costs it, or the budget, most.
Changes changes_of(const Scenario& scenario) {
  Changes changes;
  add_reshard(changes, scenario);
  add_megatron_cuts(changes, scenario);
  add_checkpointing(changes, scenario, CheckpointKind::selective);
  add_micro_batches(changes, scenario);
  add_checkpointing(changes, scenario, CheckpointKind::full);
  add_sharding(changes, scenario);
  add_gpus(changes, scenario);
  return changes;
}

/// Tries changes and keeps the best of them.
class Search {
 public:
  Search(const DataDirectory& data, const MemoryReport& before)
      : data_(data), least_excess_(excess(before)) {}

  /// The scenario with the change, when there can be one. Accounted unless a remedy is there.
  std::optional<Scenario> attempt(const Scenario& scenario, const Change& change,
                                  const Change* before) {
    std::optional<Scenario> changed;
    try {
      changed = with_overrides(data_, scenario, change.overrides);
    } catch (const InputError&) {
      return std::nullopt;  // a plan that cannot be is no offer
    }
    account(*changed, change, before);
    return changed;
  }

  bool found_comfortable() const { return comfortable_.has_value(); }

  void report_to(MemoryResult& memory) {
    memory.remedy = comfortable_ ? std::move(comfortable_) : std::move(tight_);
    if (!memory.remedy) memory.nearest = std::move(nearest_);
  }

 private:
  static Bytes excess(const MemoryReport& report) {
    return report.peak_reserved + report.outside - report.capacity;
  }

  void account(const Scenario& changed, const Change& change, const Change* before) {
    FitChange fit{change.overrides, change.description, fullest_stage(data_, changed)};
    if (before != nullptr) {
      fit.overrides.insert(fit.overrides.begin(), before->overrides.begin(),
                           before->overrides.end());
      fit.description = before->description + " and " + fit.description;
    }
    const bool nearer = excess(fit.report) < least_excess_;
    if (nearer) least_excess_ = excess(fit.report);
    if (fit.report.verdict == FitVerdict::fits) {
      comfortable_ = std::move(fit);
    } else if (fit.report.fits) {
      if (!tight_) tight_ = std::move(fit);
    } else if (nearer) {
      nearest_ = std::move(fit);
    }
  }

  const DataDirectory& data_;
  Bytes least_excess_;
  std::optional<FitChange> comfortable_;
  std::optional<FitChange> tight_;
  std::optional<FitChange> nearest_;
};

void try_seconds(Search& search, const Scenario& scenario, const Change& first) {
  for (const Change& second : changes_of(scenario)) {
    if (second.lever <= first.lever) continue;
    search.attempt(scenario, second, &first);
    if (search.found_comfortable()) return;
  }
}

}  // namespace

void find_remedy(const DataDirectory& data, const Scenario& scenario, MemoryResult& memory) {
  Search search(data, memory.report());
  std::vector<std::pair<Change, Scenario>> firsts;
  for (Change& change : changes_of(scenario)) {
    std::optional<Scenario> changed = search.attempt(scenario, change, nullptr);
    if (search.found_comfortable()) return search.report_to(memory);
    // Pairs start from the last of several sizes alone: the others do less.
    const bool sizes = change.lever == Lever::micro_batch;
    if (sizes && !firsts.empty() && firsts.back().first.lever == change.lever) firsts.pop_back();
    if (changed) firsts.emplace_back(std::move(change), std::move(*changed));
  }
  for (const auto& [first, changed] : firsts) {
    try_seconds(search, changed, first);
    if (search.found_comfortable()) break;
  }
  search.report_to(memory);
}

}  // namespace stepsim::scenarios
