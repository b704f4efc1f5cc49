#pragma once

/// Where ranks meet: communicators and channels seen as one thing. The k-th meeting of a rendezvous
/// brings together the k-th collective (or message) of each member; meetings of one rendezvous run
/// one after the other:
///
///   start(k) = max(latest local arrival of any member, end(k − 1))
///   end(k)   = start(k) + latency + transfer
///
/// A member's local arrival is the moment when its host, stream and events are ready. Members may
/// arrive at later meetings before earlier ones are complete.

#include "sim/compiled_program.hpp"
#include "sim/executor.hpp"
#include "sim/job.hpp"
#include "sim/population.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace stepsim::sim {

class RendezvousTable {
 public:
  /// Throws DeadlockError when members of a rendezvous issue different collectives on it, or not
  /// equally many. `programs` are the job's, compiled; all must outlive the table.
  RendezvousTable(const Job& job, const std::vector<CompiledProgram>& programs,
                  const Population& population);

  std::span<const Population::Member> members(RendezvousId id) const {
    const Population::Rendezvous& rendezvous = population_.rendezvous[id.index()];
    return {population_.members.data() + rendezvous.first_member, rendezvous.member_count};
  }
  /// Meetings that are over or whose end is known.
  std::uint32_t completed(RendezvousId id) const { return rendezvous_[id.index()].completed; }
  const Meeting& meeting(RendezvousId id, std::uint32_t index) const {
    return rendezvous_[id.index()].meetings[index];
  }

  /// A member of the given class arrives at a meeting. Returns whether this completed one or more.
  bool arrive(RendezvousId id, std::uint32_t index, ClassId rank_class, std::int64_t arrival_ps);

  /// The same for runs that decide themselves how long a transfer takes: `arrival_ps` includes the
  /// wait for a busy rendezvous, so that members arrive at one meeting at a time. Returns whether
  /// the last member has arrived; the meeting is then open until `finish`.
  bool arrive_in_time(RendezvousId id, std::uint32_t index, ClassId rank_class,
                      std::int64_t arrival_ps) {
    Rendezvous& rendezvous = rendezvous_[id.index()];
    note_arrival(rendezvous.meetings[index], rendezvous.arrived_now++ == 0, rank_class,
                 Time::picoseconds(arrival_ps));
    return rendezvous.arrived_now == rendezvous.member_count;
  }
  /// Ends the first meeting that is not complete.
  void finish(RendezvousId id, Time end, std::uint32_t slowest_link_class) {
    Rendezvous& rendezvous = rendezvous_[id.index()];
    Meeting& meeting = rendezvous.meetings[rendezvous.completed++];
    meeting.end = end;
    meeting.slowest_link_class = slowest_link_class;
    rendezvous.arrived_now = 0;
  }

  const CollectiveCost& cost(RendezvousId id, std::uint32_t index) const {
    return *rendezvous_[id.index()].costs[index];
  }
  /// Whether all members run one program and call the rendezvous by one slot of it.
  bool members_are_alike(RendezvousId id) const { return rendezvous_[id.index()].alike; }
  /// A member's own number for a meeting: its place among all of its program's.
  std::uint32_t meeting_of(const Population::Member& member, std::uint32_t index) const {
    const ProgramId program = population_.participants[member.participant.index()].program;
    return programs_[program.index()].meetings_of_slot[member.slot.index()][index];
  }

  /// Hands over the meetings of every rendezvous, in order of RendezvousId.
  std::vector<std::vector<Meeting>> take_meetings();

 private:
  struct Rendezvous {
    std::vector<Meeting> meetings;                 // start: latest arrival so far, until complete
    const CollectiveCost* const* costs = nullptr;  // of each meeting
    std::uint32_t member_count = 0;
    std::uint32_t completed = 0;
    std::uint32_t arrived_now = 0;  // members at the first meeting that is not complete
    ClassId lowest_class;
    bool alike = true;
    std::vector<std::uint32_t> arrived;  // members at each meeting, where they come to later ones
  };

  void check_agreement(RendezvousId id);
  void add_meetings(RendezvousId id);
  const std::vector<const CollectiveCost*>& costs_of(ProgramId program, SlotId slot,
                                                     std::uint32_t row);
  static void note_arrival(Meeting& meeting, bool is_first, ClassId rank_class, Time arrival) {
    if (is_first || arrival > meeting.start ||
        (arrival == meeting.start && rank_class < meeting.last_to_arrive)) {
      meeting.start = arrival;
      meeting.last_to_arrive = rank_class;
    }
  }
  static void complete_next(Rendezvous& rendezvous);

  const Job& job_;
  const std::vector<CompiledProgram>& programs_;
  const Population& population_;
  std::vector<Rendezvous> rendezvous_;
  /// By program, slot and cost row: shared by all rendezvous of one kind.
  std::map<std::array<std::uint32_t, 3>, std::vector<const CollectiveCost*>> costs_;
};

/// «communicator 3 (shard, 8 ranks)» or «channel 1 (pipeline, rank 0 to rank 4)», where
/// participants are ranks.
std::string describe_rendezvous(const Job& job, RendezvousId id);

}  // namespace stepsim::sim
