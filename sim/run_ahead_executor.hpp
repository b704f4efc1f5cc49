#pragma once

/// The executor. No event queue: since nothing here depends on who shares what at which time, every
/// start is a maximum of known ends, and any order of evaluation that respects the dependencies
/// gives the same numbers.
///
/// Each rank (or stand-in for a class of ranks) runs through its program as far as it can. A
/// collective only notes the rank's arrival and leaves a claim on its end in the stream's clock;
/// the rank goes on until an instruction reads a claim that cannot be redeemed yet. The last member
/// to arrive settles the meeting and puts the ranks that wait for it back on the work list.
///
/// A program may look stuck to this order though a GPU would run it: a blocked instruction hides a
/// later collective on a free stream. When the work list is empty, the unfinished ranks therefore
/// look ahead: they postpone what is blocked, stream by stream, and issue on. Only when this brings
/// nothing either do ops really wait on each other.

#include "sim/compiled_program.hpp"
#include "sim/kernel_pace.hpp"
#include "sim/rendezvous.hpp"

#include <cstdint>
#include <vector>

namespace stepsim::sim {

/// A clock is a time in picoseconds, or a claim on the end of one of the rank's meetings, or not
/// known because the record that sets it is postponed.
namespace clock_value {
inline constexpr std::int64_t unknown = INT64_MIN;
constexpr bool is_known(std::int64_t value) { return value >= 0; }
constexpr std::int64_t claim(std::uint32_t meeting) { return -1 - std::int64_t{meeting}; }
constexpr std::uint32_t claimed_meeting(std::int64_t value) {
  return static_cast<std::uint32_t>(-1 - value);
}
}  // namespace clock_value

class RunAhead {
 public:
  /// An instruction that the host has issued and its stream cannot run yet.
  struct Postponed {
    std::uint32_t instruction = 0;
    std::int64_t issued_ps = 0;
  };

  /// What a rank keeps only once it has looked ahead.
  struct LookAhead {
    std::vector<Postponed> postponed;   // in issue order
    std::vector<std::int64_t> records;  // every record of the program, instead of registers
    std::vector<bool> stream_blocked;   // by something in `postponed`
  };

  /// All must outlive the run. Throws DeadlockError when members of a rendezvous disagree.
  RunAhead(const Job& job, const std::vector<CompiledProgram>& programs,
           const Population& population);

  /// Runs to the end. Returns false when ops wait on each other; the state then shows where.
  bool run();

  /// When the participant's last op or host action ended, once run() has returned true.
  Time end_of(ParticipantId participant) const;
  /// Hands over the meetings of every rendezvous then.
  std::vector<std::vector<Meeting>> take_meetings() { return table_.take_meetings(); }

  const Job& job() const { return job_; }
  const Population& population() const { return population_; }
  const RendezvousTable& table() const { return table_; }
  const CompiledProgram& program(ParticipantId id) const { return *states_[id.index()].program; }
  bool finished(ParticipantId id) const { return states_[id.index()].finished; }
  /// The instruction the host turns to next.
  std::uint32_t host_position(ParticipantId id) const { return states_[id.index()].position; }
  const LookAhead& look_ahead(ParticipantId id) const {
    return look_ahead_[states_[id.index()].look_ahead];
  }
  std::int64_t stream_clock(ParticipantId id, std::uint32_t stream) const {
    return clocks_[states_[id.index()].first_clock + stream];
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  struct State {
    const CompiledProgram* program = nullptr;
    std::size_t first_clock = 0;  // streams, then registers
    std::int64_t host_ps = 0;
    std::uint32_t position = 0;
    std::uint32_t awaited = none;     // the RendezvousId it is blocked on
    std::uint32_t look_ahead = none;  // index into look_ahead_
    bool queued = false;
    bool finished = false;
  };

  enum class Outcome : std::uint8_t { done, blocked };

  /// Where the instructions of a rank find what events recorded: in registers, or, once it has
  /// looked ahead, in one clock for each record.
  struct EventClocks {
    std::int64_t* clocks = nullptr;
    bool one_each = false;
    std::int64_t& of(const Instruction& instruction) const {
      return clocks[one_each ? instruction.second : instruction.first];
    }
  };

  void run_work_list();
  void run_plain(ParticipantId id);
  bool run_looking_ahead(ParticipantId id);
  bool run_postponed(ParticipantId id, LookAhead& ahead);
  bool issue_ahead(ParticipantId id, LookAhead& ahead);
  bool all_look_ahead();
  void begin_look_ahead(ParticipantId id);

  Outcome execute(ParticipantId id, State& state, const Instruction& instruction,
                  std::int64_t issued_ps, EventClocks events);
  std::int64_t kernel_time(ParticipantId id, const Instruction& instruction) const;
  bool redeem(ParticipantId id, State& state, std::int64_t& clock);
  void meet(ParticipantId id, State& state, const Instruction& instruction,
            std::int64_t arrival_ps);
  bool finish(ParticipantId id, State& state);
  void wake_members(RendezvousId rendezvous);
  void enqueue(ParticipantId id);

  const Job& job_;
  const Population& population_;
  RendezvousTable table_;
  std::vector<State> states_;
  std::vector<KernelPace> paces_;  // of each participant
  std::vector<std::int64_t> clocks_;
  std::vector<LookAhead> look_ahead_;
  std::vector<ParticipantId> work_list_;
  std::size_t finished_count_ = 0;
};

}  // namespace stepsim::sim
