#pragma once

/// A scenario file as it was written: every key may be absent. What the blocks of
/// scenarios/scenario_blocks.hpp read, and what scenarios/resolve_scenario.hpp makes a Scenario of.

#include "workloads/model.hpp"
#include "workloads/plan.hpp"

#include "topology/cluster.hpp"

#include "sim/base/document.hpp"
#include "sim/base/units.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stepsim::scenarios {

/// What every block has: whether all of it could be read. Checks between keys are left out for
/// blocks that could not, so that one mistake is not reported twice.
struct BlockSpec {
  bool readable = true;
};

struct GpuSpec : BlockSpec {
  std::optional<Bytes> memory;
  std::optional<Bandwidth> memory_bandwidth;
};

struct FabricSpec : BlockSpec {
  std::optional<topology::FabricKind> kind;
  std::optional<double> oversubscription;
  std::optional<Bandwidth> nic;
  std::optional<int> nics_per_node;
  std::optional<int> nodes_per_leaf;
  std::optional<int> nodes_per_pod;
  std::optional<double> pod_oversubscription;
  std::optional<Time> latency;
  std::optional<int> ecmp;
};

/// One entry of cluster.slow: a rank, or a node, that is slower than its type.
struct SlowPartSpec : BlockSpec {
  std::optional<int> rank;
  std::optional<int> node;
  std::optional<double> compute_time;
  std::optional<double> nic_bandwidth;  // of a node: a part of its ports' line rate
};

/// What noise and reliability leave open.
inline constexpr int usual_noise_seeds = 32;
inline constexpr double usual_run_days = 30;
inline constexpr int usual_runs = 200;

/// cluster.noise: kernels and ranks that are not equally fast every time.
struct NoiseSpec : BlockSpec {
  std::optional<double> kernel;      // every kernel's time varies by up to this share, evenly
  std::optional<double> step;        // standard deviation of a rank's pace in a step, as a share
  std::optional<std::int64_t> seed;  // the first
  std::optional<int> seeds;          // steps simulated, with seeds one after the other
};

struct ClusterSpec : BlockSpec {
  std::optional<DocumentNode> node;  // name, path or block of a node file's keys
  std::optional<int> nodes;
  std::optional<int> gpus;
  GpuSpec gpu;
  FabricSpec fabric;
  std::optional<std::vector<SlowPartSpec>> slow;
  std::optional<NoiseSpec> noise;
};

struct PlanSpec : BlockSpec {
  std::optional<workloads::Strategy> strategy;
  std::optional<int> shard;
  std::optional<int> replicate;
  std::optional<bool> reshard_after_forward;
  std::optional<Bytes> bucket_size;
  std::optional<bool> gradient_as_bucket_view;

  // Of Megatron-LM:
  std::optional<int> tp;
  std::optional<bool> sequence_parallel;
  std::optional<int> pp;
  std::optional<workloads::PipelineSchedule> schedule;
  std::optional<int> virtual_stages;
  std::optional<std::vector<std::int64_t>> stage_layers;
  std::optional<bool> embedding_as_layer;
  std::optional<bool> head_as_layer;
  std::optional<std::string> rank_order;
  std::optional<bool> distributed_optimizer;
  std::optional<bool> overlap_grad_reduce;
  std::optional<bool> overlap_param_gather;
};

struct CheckpointingSpec : BlockSpec {
  std::optional<workloads::CheckpointKind> kind;
  std::optional<workloads::SelectivePolicy> policy;
  std::optional<int> n;
  std::optional<bool> early_stop;
};

enum class Optimizer { adamw };

enum class GradientSync { every, last };

struct TrainingSpec : BlockSpec {
  std::optional<std::int64_t> sequence_length;
  std::optional<std::int64_t> micro_batch;
  std::optional<std::int64_t> global_batch;
  std::optional<workloads::DType> precision;
  std::optional<workloads::DType> parameter_precision;
  std::optional<workloads::DType> reduce_precision;
  std::optional<CheckpointingSpec> activation_checkpointing;
  std::optional<Optimizer> optimizer;
  std::optional<GradientSync> gradient_sync;
};

struct NcclSpec : BlockSpec {
  std::optional<std::string> version;
  std::optional<std::string> algo;
  std::optional<std::string> proto;
  std::optional<int> max_ctas;
  std::optional<bool> nvls;
  std::optional<bool> collnet;
};

struct SoftwareSpec : BlockSpec {
  std::optional<bool> compile;
  std::optional<bool> cuda_graph;
  std::optional<workloads::AttentionKernel> attention;
  std::optional<NcclSpec> nccl;
  std::optional<bool> interference;
};

struct MeasuredSpec : BlockSpec {
  std::optional<Time> step_time;
  std::optional<double> tokens_per_second;
  std::optional<double> tokens_per_second_per_gpu;
  std::optional<FlopRate> model_flops_per_second_per_gpu;
  std::optional<double> mfu;
  std::optional<workloads::FlopsConvention> flops_convention;
  std::optional<FlopRate> peak;
  std::optional<std::string> source;
};

/// How often parts of the cluster fail in a long run, and what checkpoints cost.
struct ReliabilitySpec : BlockSpec {
  std::optional<double> gpu_failures_per_year;   // of each GPU
  std::optional<double> node_failures_per_year;  // of each node, besides its GPUs
  std::optional<double> link_failures_per_year;  // of each network port and its cable
  std::optional<Time> checkpoint_write;
  std::optional<Time> checkpoint_interval;
  std::optional<Time> restart;
  std::optional<double> days;
  std::optional<int> runs;
  std::optional<std::int64_t> seed;
};

struct ScenarioSpec : BlockSpec {
  std::optional<DocumentNode> model;  // name, path or block of Hugging Face keys
  ClusterSpec cluster;
  PlanSpec plan;
  TrainingSpec training;
  SoftwareSpec software;
  std::optional<MeasuredSpec> measured;
  std::optional<ReliabilitySpec> reliability;
};

}  // namespace stepsim::scenarios
