#pragma once

/// Device memory as the allocator sees it: buffers taken and returned in host issue order. The
/// curve and its peak are properties of the program alone, whatever the timing.

#include "sim/program.hpp"

#include "sim/base/units.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace stepsim::sim {

using BytesByKind = std::array<Bytes, buffer_kind_count>;

struct MemoryPoint {
  std::uint32_t op = 0;  // after this op of the program
  Bytes allocated;
};

struct MemoryUse {
  Bytes peak_allocated;       // requests, each rounded up to the granularity
  std::uint32_t peak_op = 0;  // the first op after which the peak stands; 0 when it already stands
                              // at the start of the step
  BytesByKind at_peak{};      // breakdown; sums to peak_allocated
  std::vector<MemoryPoint> curve;  // one point a memory op, in issue order
};

/// Replays the memory ops of a program. `granularity` rounds every request up, as an allocator does
/// (1 keeps requests as they are). Persistent buffers are held from the start.
MemoryUse replay_memory(const Program& program, Bytes granularity);

}  // namespace stepsim::sim
