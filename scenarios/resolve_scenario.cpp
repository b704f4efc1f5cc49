#include "scenarios/resolve_scenario.hpp"

#include <algorithm>

namespace stepsim::scenarios {

namespace {

using workloads::CheckpointKind;
using workloads::SelectivePolicy;
using workloads::Strategy;

CheckpointingSpec checkpointing_of(const workloads::Training& training, Strategy strategy) {
  const workloads::Training defaults;
  CheckpointingSpec spec;
  spec.kind = training.activation_checkpointing;
  const bool selective = training.activation_checkpointing == CheckpointKind::selective;
  if (selective) spec.policy = training.selective_policy;
  if (selective && training.selective_policy == SelectivePolicy::every_n) {
    spec.n = training.checkpoint_every_n;
  }
  if (strategy == Strategy::megatron) return spec;  // has one policy and never stops early
  const bool stops_otherwise = training.checkpoint_early_stop != defaults.checkpoint_early_stop;
  if (selective || (stops_otherwise && spec.kind == CheckpointKind::full)) {
    spec.early_stop = training.checkpoint_early_stop;
  }
  return spec;
}

void add_megatron(const workloads::Plan& plan, PlanSpec& spec) {
  spec.tp = plan.tp;
  spec.sequence_parallel = plan.sequence_parallel;
  spec.pp = plan.pp;
  spec.schedule = plan.schedule;
  if (plan.schedule == workloads::PipelineSchedule::interleaved)
    spec.virtual_stages = plan.virtual_stages;
  if (!plan.stage_layers.empty()) {
    spec.stage_layers = plan.stage_layers;
  } else {
    spec.embedding_as_layer = plan.embedding_as_layer;
    spec.head_as_layer = plan.head_as_layer;
  }
  spec.rank_order = plan.rank_order;
  spec.distributed_optimizer = plan.distributed_optimizer;
  spec.overlap_grad_reduce = plan.overlap_grad_reduce;
  spec.overlap_param_gather = plan.overlap_param_gather;
}

PlanSpec plan_of(const workloads::Plan& plan) {
  PlanSpec spec;
  spec.strategy = plan.strategy;
  spec.replicate = plan.replicate;
  if (plan.bucket_bytes) spec.bucket_size = Bytes(*plan.bucket_bytes);
  switch (plan.strategy) {
    case Strategy::ddp:
      spec.gradient_as_bucket_view = plan.gradient_as_bucket_view;
      break;
    case Strategy::fsdp2:
      spec.shard = plan.shard;
      spec.reshard_after_forward = plan.reshard_after_forward;
      break;
    case Strategy::megatron:
      add_megatron(plan, spec);
      break;
  }
  return spec;
}

TrainingSpec training_of(const workloads::Training& training, Strategy strategy) {
  TrainingSpec spec;
  spec.sequence_length = training.sequence_length;
  spec.micro_batch = training.micro_batch;
  spec.global_batch = training.global_batch;
  spec.precision = training.precision;
  spec.parameter_precision = training.parameter_precision;
  spec.reduce_precision = training.reduce_precision;
  spec.activation_checkpointing = checkpointing_of(training, strategy);
  spec.optimizer = Optimizer::adamw;
  if (strategy == Strategy::fsdp2) {
    spec.gradient_sync =
        training.gradient_sync_every_micro_batch ? GradientSync::every : GradientSync::last;
  }
  return spec;
}

NcclSpec nccl_of(const topology::NcclSettings& settings) {
  NcclSpec spec;
  spec.version = settings.version;
  if (!settings.algorithm.empty()) spec.algo = settings.algorithm;
  if (!settings.protocol.empty()) spec.proto = settings.protocol;
  if (settings.most_channels > 0) spec.max_ctas = settings.most_channels;
  if (settings.nvls == topology::NcclSettings::Nvls::off) spec.nvls = false;
  if (settings.sharp == topology::NcclSettings::Sharp::on) spec.collnet = true;
  return spec;
}

ClusterSpec cluster_of(const Scenario& scenario) {
  const HardwareChanges& changes = scenario.hardware_changes;
  ClusterSpec spec;
  spec.node = scenario.node_reference;
  spec.nodes = scenario.cluster.nodes;
  spec.gpus = scenario.cluster.gpus;
  spec.gpu.memory = changes.memory;
  spec.gpu.memory_bandwidth = changes.memory_bandwidth;
  spec.fabric.kind = scenario.cluster.fabric;
  spec.fabric.oversubscription = scenario.cluster.oversubscription;
  spec.fabric.nic = changes.nic;
  spec.fabric.nics_per_node = changes.nics_per_node;
  const topology::Cluster& cluster = scenario.cluster;
  if (cluster.nodes_per_leaf > 0) spec.fabric.nodes_per_leaf = cluster.nodes_per_leaf;
  if (cluster.nodes_per_pod > 0) {
    spec.fabric.nodes_per_pod = cluster.nodes_per_pod;
    spec.fabric.pod_oversubscription = cluster.pod_oversubscription;
  }
  if (cluster.network_latency > Time::zero()) spec.fabric.latency = cluster.network_latency;
  if (cluster.ecmp_seed) spec.fabric.ecmp = static_cast<int>(*cluster.ecmp_seed);
  if (!scenario.slow.empty()) spec.slow = scenario.slow;
  spec.noise = scenario.noise;
  return spec;
}

// «not given: bf16 (training.precision)»: what a key that the file leaves open stands for.
std::string not_given(const std::string& taken, const char* key) {
  return "not given: " + taken + " (" + key + ')';
}

void note_open_network(const ScenarioSpec& spec, const Scenario& scenario,
                       std::vector<std::string>& notes) {
  const bool has_version = spec.software.nccl && spec.software.nccl->version;
  if (scenario.cluster.gpus > 1 && !has_version) {
    notes.push_back(not_given("NCCL " + scenario.software.nccl.version, "software.nccl"));
  }
  if (scenario.cluster.nodes == 1) return;
  if (!spec.cluster.fabric.kind) {
    notes.push_back(not_given("rail-optimized", "cluster.fabric.kind"));
  }
  if (!spec.cluster.fabric.oversubscription) {
    notes.push_back(not_given("no oversubscription", "cluster.fabric.oversubscription"));
  }
}

void note_open_training(const ScenarioSpec& spec, const Scenario& scenario,
                        std::vector<std::string>& notes) {
  const auto note = [&](bool given, const std::string& taken, const char* key) {
    if (!given) notes.push_back(not_given(taken, key));
  };
  const TrainingSpec& training = spec.training;
  note(training.micro_batch.has_value(), "one sequence a micro-batch", "training.micro_batch");
  note(training.global_batch.has_value(), "one micro-batch a step", "training.global_batch");
  note(training.precision.has_value(), "bf16", "training.precision");
  note(training.activation_checkpointing.has_value(), "no recomputation",
       "training.activation_checkpointing");
  note(spec.software.compile.has_value(), "compiled", "software.compile");
  note(spec.software.attention.has_value(), workloads::to_string(scenario.software.attention),
       "software.attention");
  const std::int64_t positions = scenario.model.max_positions;
  if (positions > 0 && scenario.training.sequence_length > positions) {
    notes.push_back("sequences longer than the " + std::to_string(positions) +
                    " positions the model was made for");
  }
}

}  // namespace

std::vector<std::string> open_keys(const ScenarioSpec& spec, const Scenario& scenario) {
  std::vector<std::string> notes;
  note_open_training(spec, scenario, notes);
  note_open_network(spec, scenario, notes);
  return notes;
}

constexpr int ampere = 80;  // as compute capability

// FlashAttention 3 is written for Hopper's tensor cores and refuses other GPUs; FlashAttention 2
// and cuDNN's fused attention need Ampere's.
void check_attention(const Scenario& scenario, KeyProblems& problems) {
  using workloads::AttentionKernel;
  const topology::Device& device = scenario.cluster.node.device;
  const AttentionKernel attention = scenario.software.attention;
  if (attention == AttentionKernel::flash3 &&
      device.architecture != topology::Architecture::hopper) {
    const bool older = device.compute_capability < ampere;
    problems.refuse("software.attention",
                    "is flash3, which runs on Hopper GPUs and not on " + device.name,
                    older ? "unfused" : "flash2, cudnn or unfused", older ? "unfused" : "flash2");
  } else if (attention != AttentionKernel::unfused && device.compute_capability < ampere) {
    problems.refuse("software.attention",
                    std::string("is ") + workloads::to_string(attention) +
                        ", which runs on Ampere GPUs and newer, not on " + device.name,
                    "unfused", "unfused");
  }
}

// GPUs before Ampere have no arithmetic in bf16.
void check_precision(const Scenario& scenario, KeyProblems& problems) {
  const topology::Device& device = scenario.cluster.node.device;
  if (device.compute_capability >= ampere) return;
  const workloads::Training& training = scenario.training;
  const auto check = [&](const char* path, workloads::DType precision) {
    if (precision != workloads::DType::bf16) return;
    problems.refuse(path, "is bf16, which Ampere GPUs and newer compute in, not " + device.name,
                    "fp16 or fp32", "fp16");
  };
  check("training.precision", training.precision);
  check("training.parameter_precision", training.parameter_precision);
  check("training.reduce_precision", training.reduce_precision);
}

Scenario resolve_scenario(const DataDirectory& data, const ScenarioSpec& spec,
                          KeyProblems& problems) {
  Scenario scenario;
  scenario.file = problems.site("").node.where().file;
  const bool model = resolve_model(data, spec, problems, scenario);
  const bool cluster = resolve_cluster(data, spec.cluster, problems, scenario) &&
                       resolve_slow(spec.cluster, problems, scenario) &&
                       resolve_noise(spec.cluster, problems, scenario);
  if (cluster) resolve_reliability(spec, problems, scenario);
  check_strategy_keys(spec, problems);
  resolve_software(spec.software, problems, scenario);
  if (cluster) check_attention(scenario, problems);
  if (spec.plan.strategy) scenario.plan.strategy = *spec.plan.strategy;
  const bool ddp_shards = spec.plan.strategy == Strategy::ddp && spec.plan.shard.value_or(1) != 1;
  const bool degrees = cluster && spec.plan.readable && !ddp_shards &&
                       resolve_degrees(spec.plan, problems, scenario);
  const bool cut = model && degrees && check_megatron_model(problems, scenario);
  const bool training = cut && spec.training.readable &&
                        resolve_training(spec.training, problems, scenario) &&
                        check_megatron_schedule(problems, scenario);
  if (!training) return scenario;
  check_precision(scenario, problems);
  if (spec.measured && spec.measured->readable) {
    resolve_measured(*spec.measured, problems, scenario);
  }
  for (std::string& note : open_keys(spec, scenario)) {
    scenario.assumptions.push_back(std::move(note));
  }
  return scenario;
}

ScenarioSpec spec_of(const Scenario& scenario) {
  ScenarioSpec spec;
  spec.model = scenario.model_reference;
  spec.cluster = cluster_of(scenario);
  spec.plan = plan_of(scenario.plan);
  spec.training = training_of(scenario.training, scenario.plan.strategy);
  spec.software.compile = scenario.software.compile;
  spec.software.cuda_graph = scenario.software.cuda_graph;
  spec.software.attention = scenario.software.attention;
  spec.software.nccl = nccl_of(scenario.software.nccl);
  spec.software.interference = scenario.software.interference;
  if (scenario.measured) spec.measured = scenario.measured->as_written;
  spec.reliability = scenario.reliability;
  return spec;
}

}  // namespace stepsim::scenarios
