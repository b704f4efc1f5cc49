#include "sim/sharing_executor.hpp"

#include <algorithm>

namespace stepsim::sim {

SharingRun::SharingRun(const Job& job, const std::vector<CompiledProgram>& programs,
                       const Population& population)
    : population_(population),
      table_(job, programs, population),
      transfers_(population),
      speeds_(job),
      standing_(population.participants.size()),
      progress_(population.rendezvous.size()),
      arrivals_(population.bindings.size()) {
  stream_programs_.reserve(programs.size());
  for (std::size_t i = 0; i < programs.size(); ++i) {
    stream_programs_.emplace_back(job.programs[i], programs[i]);
  }
  engines_.reserve(population.participants.size());
  for (std::uint32_t i = 0; i < population.participants.size(); ++i) {
    const Population::Participant& who = population.participants[i];
    Standing& standing = standing_[i];
    standing.program = &stream_programs_[who.program.index()];
    standing.bindings = population.bindings.data() + who.first_binding;
    standing.arrivals = arrivals_.data() + who.first_binding;
    standing.rank_class = who.rank_class;
    engines_.emplace_back(*standing.program, speeds_, KernelPace(job, who.rank), i, *this);
  }
}

bool SharingRun::run() {
  for (std::size_t i = engines_.size(); i > 0; --i) {
    make_ready(ParticipantId{static_cast<std::uint32_t>(i - 1)});
  }
  do {
    run_ready();
  } while (move_present());
  return std::all_of(engines_.begin(), engines_.end(),
                     [](const RankEngine& engine) { return engine.finished(); });
}

/// Lets everybody run who can without moving the present. Those made ready last go first: they have
/// just met, and what they need is at hand.
void SharingRun::run_ready() {
  while (true) {
    while (!ready_.empty()) {
      running_ = ready_.back();
      ready_.pop_back();
      Standing& standing = standing_[running_.index()];
      standing.is_ready = false;
      if (!standing.has_stopped) stopped_.push_back(running_);
      standing.has_stopped = true;
      engines_[running_.index()].run(present_);
    }
    running_ = ParticipantId{UINT32_MAX};
    if (stopped_.empty()) return;
    for (const ParticipantId id : stopped_) plan(id);
    stopped_.clear();
  }
}

void SharingRun::make_ready(ParticipantId id) {
  if (id == running_ || standing_[id.index()].is_ready) return;
  standing_[id.index()].is_ready = true;
  ready_.push_back(id);
}

/// Sees to it that a participant that has stopped runs on when it can.
void SharingRun::plan(ParticipantId id) {
  Standing& standing = standing_[id.index()];
  standing.has_stopped = false;
  RankEngine& engine = engines_[id.index()];
  if (engine.can_run(present_)) return make_ready(id);
  const std::int64_t next = engine.next_time();
  if (next == standing.planned_ps) return;
  standing.planned_ps = next;
  if (next != RankEngine::never) moments_.push({next, false, id.value});
}

/// Goes to the next moment at which something is known to happen. Returns false when there is none.
bool SharingRun::move_present() {
  const std::int64_t next_moment = moments_.empty() ? RankEngine::never : moments_.top().time_ps;
  const std::int64_t next_end = transfers_.next_end();
  if (next_end == Transfers::never && moments_.empty()) return false;
  if (next_end <= next_moment) {
    present_ = next_end;
    end_transfers();
    return true;
  }
  const Moment moment = moments_.top();
  moments_.pop();
  if (moment.is_transfer) {
    present_ = moment.time_ps;
    begin_transfer(RendezvousId{moment.id});
  } else if (standing_[moment.id].planned_ps == moment.time_ps) {
    present_ = moment.time_ps;
    standing_[moment.id].planned_ps = RankEngine::never;
    make_ready(ParticipantId{moment.id});
  }
  return true;
}

SharingRun::MeetingPlace SharingRun::place_of(std::uint32_t participant,
                                              std::uint32_t meeting) const {
  const Standing& standing = standing_[participant];
  const StreamProgram::MeetingPlace& place = standing.program->meetings[meeting];
  return {RendezvousId{standing.bindings[place.slot]}, place.index};
}

void SharingRun::arrive(std::uint32_t participant, std::uint32_t meeting, std::int64_t time_ps) {
  const Standing& standing = standing_[participant];
  const StreamProgram::MeetingPlace& place = standing.program->meetings[meeting];
  const RendezvousId rendezvous{standing.bindings[place.slot]};
  ++standing.arrivals[place.slot];
  engines_[participant].await(place.stream, table_.cost(rendezvous, place.index));
  if (table_.arrive_in_time(rendezvous, place.index, standing.rank_class, time_ps)) {
    begin_meeting(rendezvous, place.index, place.stream);
  }
}

/// The last member has arrived, on `stream`.
void SharingRun::begin_meeting(RendezvousId rendezvous, std::uint32_t index, std::uint32_t stream) {
  const std::int64_t start = table_.meeting(rendezvous, index).start.count_ps();
  const CollectiveCost& cost = table_.cost(rendezvous, index);
  const Time transfer_begin = Time::picoseconds(start) + cost.latency;
  const bool alike = table_.members_are_alike(rendezvous);
  if (shares(rendezvous, cost)) {
    progress_[rendezvous.index()].start_ps = start;
    moments_.push({transfer_begin.count_ps(), true, rendezvous.value});
    for (const Population::Member& member : table_.members(rendezvous)) {
      engines_[member.participant.index()].set_start(alike ? stream : stream_of(member, index),
                                                     start);
      make_ready(member.participant);
    }
    return;
  }
  const Time end = transfer_begin + cost.transfer;
  table_.finish(rendezvous, end, Meeting::no_link);
  progress_[rendezvous.index()] = {};
  for (const Population::Member& member : table_.members(rendezvous)) {
    engines_[member.participant.index()].set_times(alike ? stream : stream_of(member, index), start,
                                                   end.count_ps());
    make_ready(member.participant);
  }
}

/// When a meeting can end at the earliest, as far as is known.
std::int64_t SharingRun::earliest_end(std::uint32_t participant, std::uint32_t meeting) {
  const auto [rendezvous, index] = place_of(participant, meeting);
  const CollectiveCost& cost = table_.cost(rendezvous, index);
  const Time alone = cost.latency + cost.transfer;
  const std::int64_t start = progress_[rendezvous.index()].start_ps;
  if (start < 0) return (Time::picoseconds(earliest_start(rendezvous, index)) + alone).count_ps();
  const std::int64_t at_least = (Time::picoseconds(start) + alone).count_ps();
  return std::max(at_least, transfers_.earliest_end(rendezvous, present_));
}

/// When a meeting for which somebody still waits can start at the earliest: when the first member
/// that has not arrived can.
std::int64_t SharingRun::earliest_start(RendezvousId rendezvous, std::uint32_t index) {
  Progress& progress = progress_[rendezvous.index()];
  const std::span<const Population::Member> members = table_.members(rendezvous);
  while (true) {
    const Population::Member& member = members[progress.witness];
    if (standing_[member.participant.index()].arrivals[member.slot.index()] <= index) {
      return engines_[member.participant.index()].earliest_arrival(table_.meeting_of(member, index),
                                                                   present_);
    }
    ++progress.witness;
  }
}

void SharingRun::begin_transfer(RendezvousId rendezvous) {
  const CollectiveCost& cost = table_.cost(rendezvous, table_.completed(rendezvous));
  transfers_.begin(rendezvous, present_, cost.transfer.count_ps(), cost.rate);
}

void SharingRun::end_transfers() {
  for (const Transfers::Ended& ended : transfers_.end(present_)) {
    finish_meeting(ended.rendezvous, present_, ended.slowest_link_class);
  }
}

/// The end of the rendezvous' present meeting, which has started, is known.
void SharingRun::finish_meeting(RendezvousId rendezvous, std::int64_t end_ps,
                                std::uint32_t slowest_link_class) {
  const std::uint32_t index = table_.completed(rendezvous);
  table_.finish(rendezvous, Time::picoseconds(end_ps), slowest_link_class);
  progress_[rendezvous.index()] = {};
  for (const Population::Member& member : table_.members(rendezvous)) {
    engines_[member.participant.index()].set_end(stream_of(member, index), end_ps);
    make_ready(member.participant);
  }
}

}  // namespace stepsim::sim
