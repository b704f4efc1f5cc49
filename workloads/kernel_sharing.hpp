#pragma once

/// How kernels slow while collectives hold SMs and memory bandwidth of their device.
///
/// Each kernel's model is asked again with what is left: a matrix multiplication keeps the tile and
/// split-k that the library chose for the whole device and runs its waves on fewer SMs; attention
/// likewise; a kernel that moves bytes gets the rest of the bandwidth; a multiplication feels the
/// bandwidth by as much of its time as memory takes. The profile's `interference` block scales the
/// time that this adds. docs/interference.md has a worked example.

#include "sim/job.hpp"

#include <cstdint>
#include <vector>

namespace stepsim::workloads {

/// What collectives may hold of a device at one time, without none, in rising order.
struct TakenLevels {
  std::vector<std::uint32_t> sms;
  std::vector<std::uint32_t> memory_thousandths;
};

/// A communicator runs one collective at a time, so of each group one cost of its rows counts, and
/// those of different groups add up. Many levels are thinned out evenly: a kernel then runs at the
/// speed of the next level below.
TakenLevels taken_levels(const sim::Job& job);

}  // namespace stepsim::workloads
