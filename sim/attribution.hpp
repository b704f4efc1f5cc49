#pragma once

/// Where the step's time went, by two accountings that are never mixed.
///
/// Clocks: one walk back from the end of the step, across ranks. Each op on it gives its fixed part
/// or latency to overhead, the rest of its own time to its clock, and what sharing added to
/// communication; host issue time goes to overhead. Waiting never appears: the walk follows what
/// was waited for. The four sum to the step exactly.
///
/// Time line of a rank: each instant is `compute` when a kernel runs on a compute stream. The gaps
/// between those kernels are explained by the walk back from the kernel that ends the gap:
///
///   bubble    the walk is at a pipeline op that waits for its peer
///   exposed   the walk is at a collective or transfer, or one of the rank is in progress (pipeline
///   ops
///             that merely wait off the walk hold nothing up and do not count)
///   idle      the walk is at the host, or at a kernel of another stream
///
/// The four sum to the step exactly. An exposed instant belongs to the coupling op that releases
/// the next kernel: the first one the walk meets in the gap, or, when it meets none, the first one
/// in progress.

#include "sim/executor.hpp"

#include <array>
#include <optional>
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
  // Parts of by_clock:
  Time slow_rank;  // on the kernel's own clock: what a rank slower than its costs added
  Time slow_link;  // on the communication clock: what a slow link added to a transfer
  Time noise;      // on the kernel's own clock: what noise (Job::jitter) added; may be negative
  Time sharing;    // on the communication clock: what a kernel lost to resident collectives, or a
                   // transfer to others on its links
  /// Where `sharing` is not zero: the first coupling op of the rank that was resident beside the
  /// kernel, or the link that slowed the transfer most.
  std::optional<std::uint32_t> resident_op{};
  std::optional<LinkId> slowest_link{};
  bool issue = false;  // the host issuing the op; else the op itself
};

struct CriticalPath {
  std::array<Time, clock_count> by_clock{};  // sums to the step time
  std::vector<PathStep> steps;               // from the end of the step to its beginning
};

CriticalPath critical_path(const Job& job, const Execution& execution);

enum class IdleCause : std::uint8_t {
  launch,          // the host had not issued the next kernel yet
  host_sync,       // as launch or copy, in a gap that a host sync opened
  data_loader,     // the host was in host_work under data_loader_scope
  optimizer_wait,  // the host was in host_work under optimizer_scope
  copy,            // the next kernel waited for a kernel of another stream, such as a copy
  finished,        // the rank had ended
};
constexpr int idle_cause_count = 6;
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
  std::array<Time, idle_cause_count> idle_by_cause{};  // sums to `idle`
  std::vector<GroupUse> communication;                 // by group and op; exposed sums to `exposed`
  Time busy_compute;        // union of kernels on compute streams; equals compute
  Time busy_communication;  // union of collectives and transfers, without waiting for members
  Time overlapped;          // both at once
};

TimeLine time_line(const Job& job, const Execution& execution, Rank rank);

/// The mean of the time lines of all ranks. Every part is a whole picosecond, less than one from
/// the true mean, and all sums of a rank's time line hold for it too. One rank of each class is
/// replayed. Counts and bytes of groups are rounded down.
TimeLine mean_time_line(const Job& job, const Execution& execution);

}  // namespace stepsim::sim
