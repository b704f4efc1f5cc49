#pragma once

/// Where the step's time went, by two accountings that are never mixed.
///
/// Clocks: one walk back from the end of the step, across ranks. Each op on it gives its fixed part
/// or latency to overhead and the rest of its own time to its clock; host issue time goes to
/// overhead. Waiting never appears: the walk follows what was waited for. The four sum to the step
/// exactly.
///
/// Time line of a rank: at each instant `compute` when a kernel runs on a compute stream, else
/// `bubble` when the rank waits for a pipeline peer that has not arrived, else `exposed` when a
/// collective or transfer of the rank moves data or waits for members, else `idle`. The four sum to
/// the step exactly. An exposed instant belongs to the group whose op releases the next kernel.

#include "sim/executor.hpp"

#include <array>
#include <string>
#include <vector>

namespace stepsim::sim {

/// One stretch of the critical path.
struct PathStep {
  Rank rank;
  std::uint32_t op = 0;
  Time begin;
  Time end;
  std::array<Time, clock_count> by_clock{};  // sums to end − begin
};

struct CriticalPath {
  std::array<Time, clock_count> by_clock{};  // sums to the step time
  std::vector<PathStep> steps;               // from the end of the step to its beginning
};

CriticalPath critical_path(const Job& job, const Execution& execution);

enum class IdleCause : std::uint8_t { launch, host_sync, data_loader, optimizer_wait, finished };
constexpr int idle_cause_count = 5;
const char* to_string(IdleCause cause);

struct GroupUse {
  std::string group;
  std::string op;  // collective name
  std::int64_t count = 0;
  Bytes bytes;  // sum of full buffers
  Time busy;    // union over time of its transfers and latencies (not of waiting)
  Time exposed;
};

struct TimeLine {
  Time compute;
  Time bubble;
  Time exposed;
  Time idle;
  std::array<Time, idle_cause_count> idle_by_cause{};
  std::vector<GroupUse> communication;  // exposed sums to `exposed`
  Time busy_compute;                    // union of kernels on compute streams
  Time busy_communication;  // union of collectives and transfers, without waiting for members
  Time overlapped;          // both at once
};

TimeLine time_line(const Job& job, const Execution& execution, Rank rank);

}  // namespace stepsim::sim
