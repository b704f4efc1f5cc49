#pragma once

/// PyTorch's caching allocator (c10/cuda/CUDACachingAllocator), as far as it decides how much a
/// program reserves: requests round up to 512 B; up to 1 MiB they come from 2 MiB segments, below
/// 10 MiB from 20 MiB segments, above from segments of their own rounded up to 2 MiB; the smallest
/// free block of the same stream that is large enough is taken and split when more than 512 B
/// (small) or 1 MiB (large) would be left; neighbours merge when freed. When the device is full,
/// segments that are free as a whole are given back to the driver, which stalls the GPU.
///
/// expandable_segments is off. A buffer belongs to the stream of the first kernel or collective
/// issued after its allocation.

#include "sim/program.hpp"

#include "sim/base/units.hpp"

namespace stepsim::workloads {

struct ReservedMemory {
  Bytes peak;                 // largest sum of segments, in a steady step
  std::int64_t releases = 0;  // times cached segments had to be given back for want of room
  bool out_of_memory = false;
};

/// Runs the program's memory ops twice over: the first step's leftovers are the second's cache.
/// `limit` is what the device leaves to the allocator; out_of_memory says that it did not suffice,
/// and `peak` is then what it would have reserved without one.
ReservedMemory reserve_memory(const sim::Program& program, Bytes limit);

}  // namespace stepsim::workloads
