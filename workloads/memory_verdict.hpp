#pragma once

/// Does it fit: the program's memory curve, what the allocator reserves for it, what lies outside
/// the allocator, and the verdict.

#include "workloads/step.hpp"

#include "sim/memory_curve.hpp"

#include <string>
#include <vector>

namespace stepsim::workloads {

/// `tight`: above 92 % of the capacity, or the allocator has to give cached memory back to the
/// driver to go on. Either may make the step up to a quarter slower.
enum class FitVerdict { fits, tight, does_not_fit };

struct MemoryReport {
  Bytes peak_allocated;
  Bytes peak_reserved;  // segments of the caching allocator: see memory_allocator.hpp
  Bytes outside;        // CUDA context, NCCL, library workspaces
  Bytes capacity;
  bool fits = false;
  FitVerdict verdict = FitVerdict::fits;
  sim::BytesByKind breakdown{};  // at the peak; sums to peak_allocated
  std::vector<std::pair<std::string, Bytes>> outside_parts;
  std::vector<std::string> outside_sources;  // one a part: «cuda_context: measured, …»
  std::string peak_moment;  // the scope of the op at the peak, such as «backward/layers.79»
  sim::MemoryUse use;
};

/// Of one program of the step on the device it runs on. `memory_step` is a step that takes the same
/// memory: build_memory_step's, or `step` itself.
MemoryReport report_memory(const StepInput& input, const Step& step, const Step& memory_step,
                           sim::ProgramId program);

}  // namespace stepsim::workloads
