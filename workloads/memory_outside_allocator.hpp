#pragma once

/// Device memory that PyTorch's allocator does not hand out: the CUDA context, NCCL's buffers for
/// every communicator, cuBLAS workspaces.

#include "workloads/step.hpp"

#include "sim/base/sourced_number.hpp"
#include "sim/base/units.hpp"

#include <string>
#include <vector>

namespace stepsim::workloads {

struct OutsidePart {
  std::string name;
  Bytes size;
  Source source;
};

/// Of a rank that runs `program`, in a fixed order: context, communicators, workspaces.
std::vector<OutsidePart> memory_outside_allocator(const StepInput& input, const sim::Job& job,
                                                  sim::ProgramId program);

/// What one communicator takes for one algorithm: 9.2 MiB a channel (protocols Simple 4, LL 0.5,
/// LL128 4.7 MiB) at the receiver, and at the sender too where the network is between them; for
/// NVLS twice 1 MiB a channel and rank of the node.
Bytes nccl_buffer_bytes(const topology::CollectivePrediction& prediction,
                        const topology::GroupShape& shape);

}  // namespace stepsim::workloads
