// Degrees, batch and the other numbers of a scenario: open ones are filled in, and all are checked
// against each other.

#include "scenarios/resolve_scenario.hpp"
#include "scenarios/scenario_blocks.hpp"

#include "sim/base/error.hpp"

#include <algorithm>
#include <utility>

namespace stepsim::scenarios {

namespace {

using workloads::CheckpointKind;
using workloads::SelectivePolicy;
using workloads::Strategy;

std::string count(std::int64_t number, const std::string& unit) {
  const char* plural = unit.ends_with("ch") ? "es" : "s";
  return std::to_string(number) + ' ' + unit + (number == 1 ? "" : plural);
}

// The multiple of `unit` that is nearest to `value`, the larger of two, and at least one of it.
std::int64_t nearest_multiple(std::int64_t value, std::int64_t unit) {
  return std::max<std::int64_t>(1, (value + unit / 2) / unit) * unit;
}

// The divisor of `number` that is nearest to `value`, the smaller of two.
int nearest_divisor(int value, int number) {
  int best = 1;
  for (int divisor = 1; divisor <= number; ++divisor) {
    if (number % divisor == 0 && std::abs(divisor - value) < std::abs(best - value)) best = divisor;
  }
  return best;
}

bool resolve_shard(const PlanSpec& spec, int gpus, KeyProblems& problems, workloads::Plan& plan) {
  plan.replicate = spec.replicate.value_or(1);
  if (spec.shard) {
    plan.shard = *spec.shard;
    const std::int64_t ranks = static_cast<std::int64_t>(plan.shard) * plan.replicate;
    if (ranks == gpus) return true;
    const bool divides = gpus % plan.replicate == 0;
    problems.refuse("plan.shard",
                    "shard " + std::to_string(plan.shard) + " times replicate " +
                        std::to_string(plan.replicate) + " is " + count(ranks, "rank") +
                        ", but the cluster has " + count(gpus, "GPU"),
                    "a product of " + std::to_string(gpus),
                    divides ? std::to_string(gpus / plan.replicate) : "");
    return false;
  }
  plan.shard = gpus / plan.replicate;
  if (gpus % plan.replicate == 0) return true;
  problems.refuse(
      "plan.replicate",
      "replicate " + std::to_string(plan.replicate) + " does not divide " + count(gpus, "GPU"),
      "a divisor of " + std::to_string(gpus),
      std::to_string(nearest_divisor(plan.replicate, gpus)));
  return false;
}

bool resolve_replicate(const PlanSpec& spec, int gpus, KeyProblems& problems,
                       workloads::Plan& plan) {
  plan.shard = 1;
  plan.replicate = spec.replicate.value_or(gpus);
  if (plan.replicate == gpus) return true;
  problems.refuse("plan.replicate",
                  "ddp replicates on every GPU: replicate " + std::to_string(plan.replicate) +
                      " does not fit " + count(gpus, "GPU"),
                  std::to_string(gpus), std::to_string(gpus));
  return false;
}

bool resolve_batch(const TrainingSpec& spec, KeyProblems& problems, Scenario& scenario) {
  workloads::Training& training = scenario.training;
  const std::int64_t replicas =
      static_cast<std::int64_t>(scenario.plan.shard) * scenario.plan.replicate;
  const std::int64_t unit = training.micro_batch * replicas;
  training.global_batch = spec.global_batch.value_or(unit);
  if (training.global_batch % unit != 0) {
    problems.refuse("training.global_batch",
                    "is " + std::to_string(training.global_batch) +
                        ", which does not divide into micro-batches of " +
                        std::to_string(training.micro_batch) + " on " + count(replicas, "replica"),
                    "a multiple of " + std::to_string(unit),
                    std::to_string(nearest_multiple(training.global_batch, unit)));
    return false;
  }
  const std::int64_t passes = training.global_batch / unit * scenario.model.layers;
  if (passes <= ScenarioLimits::layer_passes) return true;
  problems.refuse(
      "training.global_batch",
      "makes " + count(training.global_batch / unit, "micro-batch") + " of " +
          count(scenario.model.layers, "layer"),
      "at most " + std::to_string(ScenarioLimits::layer_passes) + " layers times micro-batches");
  return false;
}

bool resolve_sequence(const TrainingSpec& spec, KeyProblems& problems, Scenario& scenario) {
  workloads::Training& training = scenario.training;
  training.sequence_length = *spec.sequence_length;
  training.micro_batch = spec.micro_batch.value_or(training.micro_batch);
  const std::int64_t tokens = training.sequence_length * training.micro_batch;
  if (tokens > ScenarioLimits::micro_batch_tokens) {
    problems.refuse("training.micro_batch", "makes micro-batches of " + count(tokens, "token"),
                    "at most " + std::to_string(ScenarioLimits::micro_batch_tokens));
    return false;
  }
  try {
    scenario.model = workloads::for_sequence_length(scenario.model, training.sequence_length);
  } catch (const InputError& error) {
    problems.adopt("training.sequence_length", error);
    return false;
  }
  return true;
}

// Megatron-LM recomputes whole blocks, or core attention, and always to the end.
void check_megatron_checkpointing(const CheckpointingSpec& spec, KeyProblems& problems) {
  const std::string path = "training.activation_checkpointing.";
  if (spec.policy.value_or(SelectivePolicy::core_attention) == SelectivePolicy::op) {
    problems.refuse(path + "policy", "is op, which Megatron-LM does not have",
                    "core_attention or every_n", "core_attention");
  }
  if (spec.early_stop.value_or(false)) {
    problems.refuse(path + "early_stop", "Megatron-LM runs a recomputed block to its end", "false");
  }
}

void resolve_checkpointing(const CheckpointingSpec& spec, Strategy strategy, KeyProblems& problems,
                           workloads::Training& training) {
  const std::string path = "training.activation_checkpointing.";
  training.activation_checkpointing = *spec.kind;
  const bool megatron = strategy == Strategy::megatron;
  if (megatron) check_megatron_checkpointing(spec, problems);
  if (megatron) training.selective_policy = SelectivePolicy::core_attention;
  training.selective_policy = spec.policy.value_or(training.selective_policy);
  training.checkpoint_every_n = spec.n.value_or(training.checkpoint_every_n);
  training.checkpoint_early_stop = spec.early_stop.value_or(!megatron);
  if (spec.policy && *spec.kind != CheckpointKind::selective) {
    problems.refuse(path + "policy", "makes no sense without kind: selective");
  }
  if (spec.n && spec.policy != SelectivePolicy::every_n) {
    problems.refuse(path + "n", "makes no sense without policy: every_n");
  }
  if (spec.early_stop && *spec.kind == CheckpointKind::none) {
    problems.refuse(path + "early_stop", "makes no sense with kind: none");
  }
}

void resolve_precision(const TrainingSpec& spec, const workloads::Plan& plan,
                       workloads::Training& training) {
  training.precision = spec.precision.value_or(training.precision);
  training.parameter_precision = spec.parameter_precision.value_or(training.parameter_precision);
  const bool ddp = plan.strategy == Strategy::ddp;
  training.reduce_precision = spec.reduce_precision.value_or(ddp ? training.parameter_precision
                                                                 : training.reduce_precision);
}

void resolve_nccl(const NcclSpec& spec, KeyProblems& problems, topology::NcclSettings& nccl) {
  using Nvls = topology::NcclSettings::Nvls;
  nccl.version = spec.version.value_or(nccl.version);
  nccl.algorithm = spec.algo.value_or(nccl.algorithm);
  nccl.protocol = spec.proto.value_or(nccl.protocol);
  nccl.most_channels = spec.max_ctas.value_or(nccl.most_channels);
  nccl.nvls = spec.nvls.value_or(true) ? Nvls::on : Nvls::off;
  nccl.sharp = spec.collnet.value_or(false) ? topology::NcclSettings::Sharp::on
                                            : topology::NcclSettings::Sharp::off;
  if (nccl.sharp == topology::NcclSettings::Sharp::off && nccl.algorithm.starts_with("collnet")) {
    problems.refuse("software.nccl.algo",
                    "is " + nccl.algorithm + ", which needs switches that reduce",
                    "collnet: true beside it, or another algorithm");
  }
  if (nccl.nvls == Nvls::off && nccl.algorithm.starts_with("nvls")) {
    problems.refuse("software.nccl.algo", "is " + nccl.algorithm + ", which nvls: false forbids",
                    "another algorithm");
  }
}

}  // namespace

bool resolve_degrees(const PlanSpec& spec, KeyProblems& problems, Scenario& scenario) {
  workloads::Plan& plan = scenario.plan;
  plan.reshard_after_forward = spec.reshard_after_forward.value_or(plan.reshard_after_forward);
  plan.gradient_as_bucket_view =
      spec.gradient_as_bucket_view.value_or(plan.gradient_as_bucket_view);
  if (spec.bucket_size) plan.bucket_bytes = spec.bucket_size->count();
  if (spec.bucket_size && plan.bucket_bytes == 0) {
    problems.refuse("plan.bucket_size", "is 0", "at least one byte");
  }
  const int gpus = scenario.cluster.gpus;
  if (plan.strategy == Strategy::megatron) return resolve_megatron(spec, problems, scenario);
  return plan.strategy == Strategy::ddp ? resolve_replicate(spec, gpus, problems, plan)
                                        : resolve_shard(spec, gpus, problems, plan);
}

bool resolve_training(const TrainingSpec& spec, KeyProblems& problems, Scenario& scenario) {
  resolve_precision(spec, scenario.plan, scenario.training);
  if (spec.activation_checkpointing) {
    resolve_checkpointing(*spec.activation_checkpointing, scenario.plan.strategy, problems,
                          scenario.training);
  }
  scenario.training.gradient_sync_every_micro_batch = spec.gradient_sync != GradientSync::last;
  return resolve_sequence(spec, problems, scenario) && resolve_batch(spec, problems, scenario);
}

void resolve_software(const SoftwareSpec& spec, KeyProblems& problems, Scenario& scenario) {
  workloads::Software& software = scenario.software;
  software.compile = spec.compile.value_or(software.compile);
  software.cuda_graph = spec.cuda_graph.value_or(software.cuda_graph);
  software.attention = spec.attention.value_or(software.attention);
  software.fused_optimizer = spec.fused.optimizer.value_or(software.fused_optimizer);
  software.interference = spec.interference.value_or(software.interference);
  if (spec.nccl) resolve_nccl(*spec.nccl, problems, software.nccl);
}

void check_strategy_keys(const ScenarioSpec& spec, KeyProblems& problems) {
  if (!spec.plan.strategy) return;
  const PlanSpec& plan = spec.plan;
  const std::string name = workloads::to_string(*plan.strategy);
  const auto refuse_if = [&](bool given, const char* path) {
    if (given) problems.refuse(path, "makes no sense with strategy: " + name, "no such key");
  };
  if (plan.strategy != Strategy::fsdp2) {
    refuse_if(plan.shard.value_or(1) != 1, "plan.shard");
    refuse_if(plan.reshard_after_forward.has_value(), "plan.reshard_after_forward");
    refuse_if(spec.training.gradient_sync.has_value(), "training.gradient_sync");
  }
  if (plan.strategy != Strategy::ddp)
    refuse_if(plan.gradient_as_bucket_view.has_value(), "plan.gradient_as_bucket_view");
  if (plan.strategy == Strategy::fsdp2) refuse_if(plan.bucket_size.has_value(), "plan.bucket_size");
  if (plan.strategy == Strategy::megatron) return;
  refuse_if(plan.sequence_parallel.has_value(), "plan.sequence_parallel");
  refuse_if(plan.schedule.has_value(), "plan.schedule");
  refuse_if(plan.virtual_stages.has_value(), "plan.virtual_stages");
  refuse_if(plan.stage_layers.has_value(), "plan.stage_layers");
  refuse_if(plan.embedding_as_layer.has_value(), "plan.embedding_as_layer");
  refuse_if(plan.head_as_layer.has_value(), "plan.head_as_layer");
  refuse_if(plan.rank_order.has_value(), "plan.rank_order");
  refuse_if(plan.distributed_optimizer.has_value(), "plan.distributed_optimizer");
  refuse_if(plan.overlap_grad_reduce.has_value(), "plan.overlap_grad_reduce");
  refuse_if(plan.overlap_param_gather.has_value(), "plan.overlap_param_gather");
  const auto refuse_degree = [&](const std::optional<int>& degree, const char* path) {
    if (degree.value_or(1) == 1) return;
    problems.refuse(path,
                    "above 1 with strategy: " + name + " is not supported by this version yet",
                    "1, or strategy: megatron");
  };
  refuse_degree(plan.tp, "plan.tp");
  refuse_degree(plan.pp, "plan.pp");
}

}  // namespace stepsim::scenarios
