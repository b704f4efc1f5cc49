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
#include "sim/rank_classes.hpp"

#include "sim/base/units.hpp"

#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

namespace stepsim::sim {

/// One collective of a communicator or one message of a channel.
struct Meeting {
  static constexpr std::uint32_t no_link = std::numeric_limits<std::uint32_t>::max();

  Time start;  // the last member's arrival
  Time end;
  ClassId last_to_arrive;  // the lowest class among the members that arrived last
  std::uint32_t slowest_link_class = no_link;  // of the link that slowed the transfer most
};

/// What has to be kept of a run.
struct Execution {
  Time step_time;              // the end of the last op or host action of any rank
  std::vector<Time> rank_end;  // per rank
  Classes classes;
  std::uint64_t op_count = 0;         // op instances of all ranks
  std::uint32_t simulated_ranks = 0;  // fewer than the job's when it was folded

  /// The meetings of a communicator or channel, in order.
  const std::vector<Meeting>& of_communicator(std::uint32_t id) const {
    return meetings[meetings_of_communicator[id]];
  }
  const std::vector<Meeting>& of_channel(std::uint32_t id) const {
    return meetings[meetings_of_channel[id]];
  }
  /// Those of what a rank has bound to one of its slots.
  const std::vector<Meeting>& of_slot(const Job& job, Rank rank, SlotId slot) const;

  std::vector<std::vector<Meeting>> meetings;  // shared by communicators of one class
  std::vector<std::uint32_t> meetings_of_communicator;
  std::vector<std::uint32_t> meetings_of_channel;
};

/// A program, or several together, that can never finish: names the ops that wait on each other.
class DeadlockError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Whether ranks that cannot be told apart are executed once. The result is the same to the bit.
enum class Folding : std::uint8_t { where_it_pays, off };

struct ExecutionOptions {
  Folding folding = Folding::where_it_pays;
};

/// Runs the job. Throws DeadlockError when ops wait on each other, a collective lacks a member, a
/// send lacks its receive, or members of a communicator disagree about its next collective.
Execution execute(const Job& job, const ExecutionOptions& options = {});

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
