#pragma once

/// Executes a job: when does every op of every rank start and end.
///
///   kernel      starts when the host has issued it, its stream is free and the events it waits on
///   have
///               fired; ends `time` later
///   collective  arrives when the same holds for the rank and its communicator's previous op has
///   ended;
///               starts when the last member has arrived; ends latency + transfer later, for all
///   send/receive meet the same way, two by two
///
/// The result of the run is small (the ends of the ops that couple ranks); everything else about a
/// rank is recomputed on demand by `replay`, to the same bit.

#include "sim/job.hpp"

#include "sim/base/units.hpp"

#include <optional>
#include <stdexcept>
#include <vector>

namespace stepsim::sim {

/// The times of the ops by which a rank meets others: collectives, sends and receives, numbered in
/// issue order.
struct Meeting {
  Time start;  // the last member's arrival
  Time end;
  Rank last_to_arrive;  // the lowest rank among those that arrived last
};

struct Execution {
  Time step_time;                              // the end of the last op or host action of any rank
  std::vector<Time> rank_end;                  // per rank
  std::vector<std::vector<Meeting>> meetings;  // per rank, in issue order of its coupling ops
  std::uint64_t op_count = 0;                  // op instances executed
};

/// A program, or several together, that can never finish: names the ops that wait on each other.
class DeadlockError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Runs the job. Throws DeadlockError when ops wait on each other, a collective lacks a member, a
/// send lacks its receive, or members of a communicator disagree about its next collective.
Execution execute(const Job& job);

/// Why an op started when it did: the constraint that was met last. Ties go to the first of this
/// order.
enum class StartCause : std::uint8_t { stream, host, event, communicator, peer };

/// One op of one rank in time.
struct OpTimes {
  Time issued;   // host has finished issuing it
  Time arrival;  // stream free, host done, events fired: for coupling ops the rank begins to wait
                 // here
  Time start;
  Time end;
  StartCause cause = StartCause::stream;  // what determined `start`
  /// Index of the op of this rank that determined `start`: the previous op of the stream, the
  /// recorded op of an event, or the host's previous action. Absent at the step's beginning and
  /// when cause is peer (the walk then goes on at Meeting::last_to_arrive).
  std::optional<std::uint32_t> predecessor;
};

/// The times of every op of one rank, indexed like its program's ops.
std::vector<OpTimes> replay(const Job& job, const Execution& execution, Rank rank);

}  // namespace stepsim::sim
