#pragma once

/// Who takes part in a run, and where they meet: every rank of a job, or one stand-in for each
/// class. Seen from here, communicators and channels are the same thing, a rendezvous.

#include "sim/job.hpp"
#include "sim/rank_classes.hpp"

#include <cstdint>
#include <vector>

namespace stepsim::sim {

/// A rank or a stand-in: a participant of a run.
using ParticipantId = Id<struct ParticipantTag>;
using RendezvousId = Id<struct RendezvousTag>;

struct Population {
  struct Participant {
    ProgramId program;
    Rank rank;  // itself, or the first of its class
    ClassId rank_class;
    std::uint32_t first_binding = 0;  // in `bindings`: the RendezvousId of each slot
  };

  /// A participant's slot. A stand-in may meet itself: its class does so in several ranks.
  struct Member {
    ParticipantId participant;
    SlotId slot;
  };

  struct Rendezvous {
    std::uint32_t cost_row = 0;
    std::uint32_t first_member = 0;  // in `members`
    std::uint32_t member_count = 0;
    /// Where its transfers go. Of a stand-in: all that its class puts on one link of each class.
    std::vector<LinkUse> links{};
  };

  std::vector<Participant> participants;
  std::vector<std::uint32_t> bindings;
  std::vector<Rendezvous> rendezvous;  // communicators (or their classes), then channels
  std::uint32_t communicator_count = 0;
  std::vector<std::int64_t> link_capacity;  // of the job's links, or of one of each class
  std::vector<std::uint32_t> link_class;    // of each of these
  std::vector<Member> members;

  RendezvousId bound_to(ParticipantId participant, SlotId slot) const {
    return RendezvousId{bindings[participants[participant.index()].first_binding + slot.value]};
  }
};

/// Participant i is rank i; rendezvous are the communicators, then the channels.
Population every_rank(const Job& job, const Classes& classes);

/// Participant i stands for class i; rendezvous are the classes of communicators, then of channels.
Population one_of_each_class(const Job& job, const Classes& classes);

}  // namespace stepsim::sim
