#pragma once

/// Executes a job: when does every op of every rank start and end.
///
///   kernel      starts when the host has issued it, its stream is free and the events it waits on
///               have fired; ends `time` later
///   collective  arrives when the same holds for the rank and the communicator's previous
///   collective
///               has ended; starts when the last member has arrived; ends latency + transfer later,
///               for all members
///   send/receive meet the same way, two by two
///
/// The result of the run is small (when ranks met); everything else about a rank is recomputed on
/// demand by `replay`, to the same bit. docs/execution-model.md says it in plain words.

#include "sim/job.hpp"

#include "sim/base/units.hpp"

#include <optional>
#include <stdexcept>
#include <vector>

namespace stepsim::sim {

/// One collective of a communicator or one message of a channel.
struct Meeting {
  Time start;  // the last member's arrival
  Time end;
  Rank last_to_arrive;  // the lowest rank among those that arrived last
};

struct Execution {
  Time step_time;              // the end of the last op or host action of any rank
  std::vector<Time> rank_end;  // per rank
  /// Per communicator, and per channel, its meetings in order.
  std::vector<std::vector<Meeting>> communicator_meetings;
  std::vector<std::vector<Meeting>> channel_meetings;
  std::uint64_t op_count = 0;  // op instances executed
};

/// A program, or several together, that can never finish: names the ops that wait on each other.
class DeadlockError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Runs the job. Throws DeadlockError when ops wait on each other, a collective lacks a member, a
/// send lacks its receive, or members of a communicator disagree about its next collective.
Execution execute(const Job& job);

/// Why an op was ready when it was: the constraint that was met last. Ties go to the first of this
/// order.
enum class ArrivalCause : std::uint8_t { stream, host, event, communicator };

/// One op of one rank in time. For ops without a stream, arrival and start are when the host turns
/// to them and end is when it turns to the next; a host_sync that had to wait has the cause
/// `event`, and the op it waited for as predecessor.
struct OpTimes {
  Time issued;   // host has finished issuing it
  Time arrival;  // stream free, host done, events fired, communicator free
  Time start;    // later than `arrival` only when a coupling op waits for others
  Time end;
  ArrivalCause cause = ArrivalCause::host;  // what determined `arrival`
  /// The op of this rank whose end determined `arrival`: the stream's previous op, the op an event
  /// recorded, the communicator's previous op. Absent when the cause is the host.
  std::optional<std::uint32_t> predecessor;
};

/// The times of every op of one rank, indexed like its program's ops.
std::vector<OpTimes> replay(const Job& job, const Execution& execution, Rank rank);

}  // namespace stepsim::sim
