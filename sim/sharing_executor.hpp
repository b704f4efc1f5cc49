#pragma once

/// The executor for jobs in which what runs at the same time matters. Each participant runs by
/// itself (sim/rank_engine.hpp) as far as nothing unknown can touch it: to its next arrival, and
/// while a meeting's end is open, up to the present. The present is the earliest moment at which
/// anything is known to happen; moving it there is all that this class does, besides bringing
/// members together.

#include "sim/executor.hpp"
#include "sim/population.hpp"
#include "sim/rank_engine.hpp"
#include "sim/rendezvous.hpp"
#include "sim/transfers.hpp"

#include <cstdint>
#include <optional>
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

  Residency residency(std::uint32_t participant, std::uint32_t meeting) override;
  void arrive(std::uint32_t participant, std::uint32_t meeting, std::int64_t time_ps) override;

  bool move_present();
  void run_participant(ParticipantId id);
  void begin_transfer(RendezvousId rendezvous);
  void end_transfers();
  void finish_meeting(RendezvousId rendezvous, std::int64_t end_ps,
                      std::optional<std::uint32_t> slowest_link_class);
  void plan(ParticipantId id);

  const std::vector<CompiledProgram>& programs_;
  const Population& population_;
  RendezvousTable table_;
  Transfers transfers_;
  std::vector<StreamProgram> stream_programs_;
  std::vector<RankEngine> engines_;
  std::vector<std::int64_t> planned_;  // of each participant, its moment in the queue
  std::vector<bool> is_ready_;
  std::vector<ParticipantId> ready_;  // can run on without moving the present
  std::priority_queue<Moment, std::vector<Moment>, std::greater<>> moments_;
  std::int64_t now_ = 0;
  static constexpr std::uint32_t nobody = UINT32_MAX;
  std::uint32_t running_ = nobody;  // the participant that is running now
};

}  // namespace stepsim::sim
