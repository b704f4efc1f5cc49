#pragma once

/// The plan, training and software blocks of a scenario, as plain data: how the model is cut, what
/// a step trains on, and what runs it. Degrees are resolved (nothing is left open) before a program
/// is emitted.

#include "workloads/pipeline_schedule.hpp"

#include "topology/collective.hpp"
#include "topology/device.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stepsim::workloads {

enum class Strategy { ddp, fsdp2, megatron };
const char* to_string(Strategy strategy);

struct Plan {
  Strategy strategy = Strategy::fsdp2;
  int shard = 1;                      // fsdp2: ranks that share one copy of the parameters
  int replicate = 1;                  // ddp: all ranks; megatron: data-parallel replicas
  bool reshard_after_forward = true;  // fsdp2
  /// ddp: absent = 1 MiB first, 25 MiB after. megatron: of the gradient buffer.
  std::optional<std::int64_t> bucket_bytes;
  bool gradient_as_bucket_view = false;  // ddp

  // megatron only, all of them:
  int tp = 1;  // ranks that share every layer
  bool sequence_parallel = false;
  int pp = 1;  // ranks that a micro-batch passes through
  PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
  int virtual_stages = 1;
  std::vector<std::int64_t> stage_layers;  // blocks of each stage; empty: even
  bool embedding_as_layer = false;         // counts as a block when stages are made even
  bool head_as_layer = false;
  std::string rank_order = "tp-cp-ep-dp-pp";  // neighbouring ranks differ in the first
  bool distributed_optimizer = false;
  bool overlap_grad_reduce = false;
  bool overlap_param_gather = false;
};

/// The schedule's shape for so many micro-batches.
PipelineShape pipeline_shape(const Plan& plan, std::int64_t micro_batches);

enum class CheckpointKind { none, selective, full };
const char* to_string(CheckpointKind kind);

/// What selective checkpointing recomputes in a block: everything but the outputs of attention and
/// of every second matrix product (op, as torchtitan), whole blocks every n-th (every_n), or the
/// attention matrices (core_attention).
enum class SelectivePolicy { op, every_n, core_attention };
const char* to_string(SelectivePolicy policy);

enum class DType { fp32, bf16, fp16 };
const char* to_string(DType type);
std::int64_t bytes_of(DType type);

struct Training {
  std::int64_t sequence_length = 2048;
  std::int64_t micro_batch = 1;
  std::int64_t global_batch = 1;
  DType precision = DType::bf16;            // of compute and unsharded parameters
  DType parameter_precision = DType::fp32;  // of the stored parameters
  DType reduce_precision = DType::fp32;     // of gradients on the wire
  CheckpointKind activation_checkpointing = CheckpointKind::none;
  SelectivePolicy selective_policy = SelectivePolicy::op;
  int checkpoint_every_n = 2;         // every_n: blocks n−1, 2n−1, … are recomputed
  bool checkpoint_early_stop = true;  // recomputation ends with the last tensor backward needs
  bool gradient_sync_every_micro_batch = true;  // fsdp2; ddp synchronises the last only
};

enum class AttentionKernel { flash2, flash3, cudnn, unfused };
const char* to_string(AttentionKernel kernel);

struct Software {
  bool compile = true;
  bool cuda_graph = false;
  AttentionKernel attention = AttentionKernel::flash2;
  topology::NcclSettings nccl;
  bool interference = true;  // kernels slow while collectives hold SMs and memory bandwidth
};

}  // namespace stepsim::workloads
