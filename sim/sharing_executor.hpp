#pragma once

/// The executor for jobs in which what runs at the same time matters. Each participant runs by
/// itself (sim/rank_engine.hpp) as far as nothing unknown can touch it: without bound where no end
/// of a meeting is open, else to the earliest moment at which that meeting can end. A bound on that
/// moment follows from a member that has not arrived: what it still has to run before takes its
/// time. Ranks that meet often therefore go on together for long stretches, and only meetings with
/// ranks that are far behind make anybody wait for the present to move on.
///
/// The present is the earliest moment at which anything is known to happen once nobody can go on;
/// all that happens before it, anywhere, is known. Moving it is all that this class does, besides
/// bringing members together.

#include "sim/executor.hpp"
#include "sim/kernel_speeds.hpp"
#include "sim/population.hpp"
#include "sim/rank_engine.hpp"
#include "sim/rendezvous.hpp"
#include "sim/stream_program.hpp"
#include "sim/transfers.hpp"

#include <cstdint>
#include <queue>
#include <vector>

namespace stepsim::sim {

class SharingRun : public RankEngine::Environment {
 public:
  /// All must outlive the run. Throws DeadlockError when members of a rendezvous disagree.
  SharingRun(const Job& job, const std::vector<CompiledProgram>& programs,
             const Population& population);

  /// Runs to the end. Returns false when ops wait on each other.
  bool run();

  Time end_of(ParticipantId participant) const {
    return Time::picoseconds(engines_[participant.index()].end_ps());
  }
  std::vector<std::vector<Meeting>> take_meetings() { return table_.take_meetings(); }

 private:
  /// Something that will happen: a participant's next moment (which may be moved: then another
  /// entry holds), or the beginning of a transfer on shared links.
  struct Moment {
    std::int64_t time_ps = 0;
    bool is_transfer = false;
    std::uint32_t id = 0;  // ParticipantId or RendezvousId
    bool operator>(const Moment& other) const { return time_ps > other.time_ps; }
  };

  /// Where a participant stands in the lists below.
  struct Standing {
    const StreamProgram* program = nullptr;
    const std::uint32_t* bindings = nullptr;  // the RendezvousId of each slot
    std::uint32_t* arrivals = nullptr;        // at each slot's rendezvous
    ClassId rank_class;
    std::int64_t planned_ps = RankEngine::never;  // its moment in the queue
    bool is_ready = false;
    bool has_stopped = false;
  };

  struct Progress {
    std::int64_t start_ps = -1;  // of the meeting in progress, once its last member has arrived
    std::uint32_t witness = 0;   // the members before this one have arrived at it
  };

  /// A participant's meeting, seen from outside.
  struct MeetingPlace {
    RendezvousId rendezvous;
    std::uint32_t index = 0;
  };

  void arrive(std::uint32_t participant, std::uint32_t meeting, std::int64_t time_ps) override;
  std::int64_t earliest_end(std::uint32_t participant, std::uint32_t meeting) override;

  MeetingPlace place_of(std::uint32_t participant, std::uint32_t meeting) const;
  std::uint32_t stream_of(const Population::Member& member, std::uint32_t index) const {
    return standing_[member.participant.index()]
        .program->meetings[table_.meeting_of(member, index)]
        .stream;
  }
  bool shares(RendezvousId rendezvous, const CollectiveCost& cost) const {
    return cost.rate > 0 && !population_.rendezvous[rendezvous.index()].links.empty();
  }
  void run_ready();
  void make_ready(ParticipantId id);
  void plan(ParticipantId id);
  bool move_present();
  void begin_transfer(RendezvousId rendezvous);
  void end_transfers();
  void begin_meeting(RendezvousId rendezvous, std::uint32_t index, std::uint32_t stream);
  void finish_meeting(RendezvousId rendezvous, std::int64_t end_ps,
                      std::uint32_t slowest_link_class);
  std::int64_t earliest_start(RendezvousId rendezvous, std::uint32_t index);

  const Population& population_;
  RendezvousTable table_;
  Transfers transfers_;
  KernelSpeeds speeds_;
  std::vector<StreamProgram> stream_programs_;
  std::vector<RankEngine> engines_;
  std::vector<Standing> standing_;       // of each participant
  std::vector<Progress> progress_;       // of each rendezvous
  std::vector<std::uint32_t> arrivals_;  // of each participant at each slot's rendezvous
  std::vector<ParticipantId> ready_;     // may be able to run on
  std::vector<ParticipantId> stopped_;   // have run since they were planned
  std::priority_queue<Moment, std::vector<Moment>, std::greater<>> moments_;
  std::int64_t present_ = 0;
  ParticipantId running_{UINT32_MAX};
};

}  // namespace stepsim::sim
