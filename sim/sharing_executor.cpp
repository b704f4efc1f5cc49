#include "sim/sharing_executor.hpp"

#include <algorithm>

namespace stepsim::sim {

SharingRun::SharingRun(const Job& job, const std::vector<CompiledProgram>& programs,
                       const Population& population)
    : programs_(programs),
      population_(population),
      table_(job, programs, population),
      transfers_(population),
      planned_(population.participants.size(), RankEngine::never),
      is_ready_(population.participants.size()) {
  stream_programs_.reserve(programs.size());
  for (std::size_t i = 0; i < programs.size(); ++i) {
    stream_programs_.emplace_back(job.programs[i], programs[i]);
  }
  engines_.reserve(population.participants.size());
  for (std::uint32_t i = 0; i < population.participants.size(); ++i) {
    const Population::Participant& participant = population.participants[i];
    engines_.emplace_back(job, job.programs[participant.program.index()],
                          stream_programs_[participant.program.index()], participant.rank, i,
                          *this);
  }
}

bool SharingRun::run() {
  for (std::uint32_t i = 0; i < engines_.size(); ++i) plan(ParticipantId{i});
  do {
    while (!ready_.empty()) {
      const ParticipantId id = ready_.back();
      ready_.pop_back();
      is_ready_[id.index()] = false;
      run_participant(id);
    }
  } while (move_present());
  return std::all_of(engines_.begin(), engines_.end(),
                     [](const RankEngine& engine) { return engine.finished(); });
}

/// Goes to the next moment at which something is known to happen. Returns false when there is none.
bool SharingRun::move_present() {
  const std::int64_t next_moment = moments_.empty() ? RankEngine::never : moments_.top().time_ps;
  const std::int64_t next_end = transfers_.next_end();
  if (next_end == Transfers::never && moments_.empty()) return false;
  if (next_end <= next_moment) {
    now_ = next_end;
    end_transfers();
    return true;
  }
  const Moment moment = moments_.top();
  moments_.pop();
  now_ = moment.time_ps;
  if (moment.is_transfer) {
    begin_transfer(RendezvousId{moment.id});
  } else if (planned_[moment.id] == moment.time_ps) {
    planned_[moment.id] = RankEngine::never;
    run_participant(ParticipantId{moment.id});
  }
  return true;
}

void SharingRun::run_participant(ParticipantId id) {
  running_ = id.value;
  engines_[id.index()].run(now_);
  running_ = nobody;
  plan(id);
}

/// Sees to it that a participant runs on when it can.
void SharingRun::plan(ParticipantId id) {
  if (id.value == running_ || is_ready_[id.index()]) return;  // it is planned when it has stopped
  if (engines_[id.index()].can_run(now_)) {
    is_ready_[id.index()] = true;
    ready_.push_back(id);
    return;
  }
  const std::int64_t next = engines_[id.index()].next_time();
  if (next == planned_[id.index()]) return;
  planned_[id.index()] = next;
  if (next != RankEngine::never) moments_.push({next, false, id.value});
}

Residency SharingRun::residency(std::uint32_t participant, std::uint32_t meeting) {
  const ProgramId program = population_.participants[participant].program;
  const ProgramMeeting& place = programs_[program.index()].meetings[meeting];
  const RendezvousId rendezvous = population_.bound_to(ParticipantId{participant}, place.slot);
  const CollectiveCost& cost = table_.cost(rendezvous, place.index);
  return {cost.sms, cost.memory_thousandths, cost.latency.count_ps(), cost.transfer.count_ps()};
}

void SharingRun::arrive(std::uint32_t participant, std::uint32_t meeting, std::int64_t time_ps) {
  const Population::Participant& who = population_.participants[participant];
  const ProgramMeeting& place = programs_[who.program.index()].meetings[meeting];
  const RendezvousId rendezvous = population_.bound_to(ParticipantId{participant}, place.slot);
  if (!table_.arrive_in_time(rendezvous, place.index, who.rank_class, time_ps)) return;
  const std::int64_t start = table_.meeting(rendezvous, place.index).start.count_ps();
  const CollectiveCost& cost = table_.cost(rendezvous, place.index);
  const bool shares = cost.rate > 0 && !population_.rendezvous[rendezvous.index()].links.empty();
  for (const Population::Member& member : table_.members(rendezvous)) {
    engines_[member.participant.index()].set_start(table_.meeting_of(member, place.index), start);
    plan(member.participant);
  }
  const std::int64_t transfer_begin = (Time::picoseconds(start) + cost.latency).count_ps();
  if (shares) {
    moments_.push({transfer_begin, true, rendezvous.value});
  } else {
    finish_meeting(rendezvous, (Time::picoseconds(transfer_begin) + cost.transfer).count_ps(),
                   std::nullopt);
  }
}

void SharingRun::begin_transfer(RendezvousId rendezvous) {
  const CollectiveCost& cost = table_.cost(rendezvous, table_.completed(rendezvous));
  transfers_.begin(rendezvous, now_, cost.transfer.count_ps(), cost.rate);
}

void SharingRun::end_transfers() {
  for (const Transfers::Ended& ended : transfers_.end(now_)) {
    finish_meeting(ended.rendezvous, now_, ended.slowest_link_class);
  }
}

/// The end of the rendezvous' present meeting is known.
void SharingRun::finish_meeting(RendezvousId rendezvous, std::int64_t end_ps,
                                std::optional<std::uint32_t> slowest_link_class) {
  const std::uint32_t index = table_.completed(rendezvous);
  table_.finish(rendezvous, Time::picoseconds(end_ps), slowest_link_class);
  for (const Population::Member& member : table_.members(rendezvous)) {
    engines_[member.participant.index()].set_end(table_.meeting_of(member, index), end_ps);
    plan(member.participant);
  }
}

}  // namespace stepsim::sim
