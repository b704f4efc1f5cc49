#pragma once

/// Does it fit: the program's memory curve, what the allocator reserves for it, what lies outside
/// the allocator, and the verdict.

#include "workloads/step.hpp"

#include "sim/memory.hpp"

#include <string>
#include <vector>

namespace stepsim::workloads {

enum class FitVerdict { fits, tight, does_not_fit };

struct MemoryReport {
  Bytes peak_allocated;
  Bytes peak_reserved;  // rounding and fragmentation included
  Bytes outside;        // CUDA context, NCCL, library workspaces
  Bytes capacity;
  bool fits = false;
  FitVerdict verdict = FitVerdict::fits;
  sim::BytesByKind breakdown{};  // at the peak; sums to peak_allocated
  std::vector<std::pair<std::string, Bytes>> outside_parts;
  std::string peak_moment;  // the scope of the op at the peak, such as «backward/layers.79»
  sim::MemoryUse use;
};

/// Of one program of the step on the device it runs on.
MemoryReport report_memory(const StepInput& input, const Step& step, sim::ProgramId program);

}  // namespace stepsim::workloads
