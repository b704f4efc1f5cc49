#include "workloads/plan.hpp"

namespace stepsim::workloads {

const char* to_string(Strategy strategy) {
  switch (strategy) {
    case Strategy::ddp:
      return "ddp";
    case Strategy::fsdp2:
      return "fsdp2";
    case Strategy::megatron:
      return "megatron";
  }
  return "";
}

PipelineShape pipeline_shape(const Plan& plan, std::int64_t micro_batches) {
  return {plan.schedule, plan.pp, plan.virtual_stages, static_cast<int>(micro_batches)};
}

const char* to_string(CheckpointKind kind) {
  switch (kind) {
    case CheckpointKind::none:
      return "none";
    case CheckpointKind::selective:
      return "selective";
    case CheckpointKind::full:
      return "full";
  }
  return "";
}

const char* to_string(SelectivePolicy policy) {
  switch (policy) {
    case SelectivePolicy::op:
      return "op";
    case SelectivePolicy::every_n:
      return "every_n";
    case SelectivePolicy::core_attention:
      return "core_attention";
  }
  return "";
}

const char* to_string(DType type) {
  switch (type) {
    case DType::fp32:
      return "fp32";
    case DType::bf16:
      return "bf16";
    case DType::fp16:
      return "fp16";
  }
  return "";
}

std::int64_t bytes_of(DType type) { return type == DType::fp32 ? 4 : 2; }

const char* to_string(AttentionKernel kernel) {
  switch (kernel) {
    case AttentionKernel::flash2:
      return "flash2";
    case AttentionKernel::flash3:
      return "flash3";
    case AttentionKernel::cudnn:
      return "cudnn";
    case AttentionKernel::unfused:
      return "unfused";
  }
  return "";
}

}  // namespace stepsim::workloads
