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

#include <cstdint>
#include <string>
#include <vector>

namespace stepsim::sim {

/// Index of a rendezvous: communicators first, then channels.
using RendezvousId = Id<struct RendezvousTag>;

class RendezvousTable {
 public:
  struct Member {
    Rank rank;
    SlotId slot;  // of the rank's program
  };

  /// Throws DeadlockError when members of a rendezvous issue different collectives on it, or not
  /// equally many. `programs` are the job's, compiled; both must outlive the table.
  RendezvousTable(const Job& job, const std::vector<CompiledProgram>& programs);

  std::size_t size() const { return rendezvous_.size(); }
  RendezvousId bound_to(Rank rank, SlotId slot) const {
    return RendezvousId{bindings_[first_binding_[rank.index()] + slot.index()]};
  }
  const std::vector<Member>& members(RendezvousId id) const {
    return rendezvous_[id.index()].members;
  }
  /// Meetings that are over or whose end is known.
  std::uint32_t completed(RendezvousId id) const { return rendezvous_[id.index()].completed; }
  const Meeting& meeting(RendezvousId id, std::uint32_t index) const {
    return rendezvous_[id.index()].meetings[index];
  }

  /// A member arrives at a meeting. Returns whether this completed one or more.
  bool arrive(RendezvousId id, std::uint32_t index, Rank rank, std::int64_t arrival_ps);

  /// Hands over the meetings of every rendezvous, in order of RendezvousId.
  std::vector<std::vector<Meeting>> take_meetings();

 private:
  struct Rendezvous {
    std::vector<Member> members;
    Rank lowest_member;
    std::uint32_t completed = 0;
    std::vector<std::uint32_t> arrived;  // members at each meeting
    std::vector<Meeting> meetings;       // start: latest arrival so far, until complete
    std::vector<std::int64_t> cost_ps;   // of each meeting
  };

  void bind(const Job& job);
  void cost_meetings(const Job& job, const std::vector<CompiledProgram>& programs);
  static void complete_next(Rendezvous& rendezvous);

  std::vector<Rendezvous> rendezvous_;
  std::vector<std::uint32_t> bindings_;  // RendezvousId of each slot of each rank
  std::vector<std::size_t> first_binding_;
};

/// «communicator 3 (shard)» or «channel 1 (pipeline, rank 0 to rank 4)».
std::string describe_rendezvous(const Job& job, RendezvousId id);

}  // namespace stepsim::sim
