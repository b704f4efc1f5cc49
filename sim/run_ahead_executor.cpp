#include "sim/run_ahead_executor.hpp"

#include "sim/base/error.hpp"

#include <algorithm>

namespace stepsim::sim {

namespace {

std::int64_t later_by(std::int64_t time_ps, std::int64_t length_ps) {
  return (Time::picoseconds(time_ps) + Time::picoseconds(length_ps)).count_ps();
}

}  // namespace

RunAhead::RunAhead(const Job& job, const std::vector<CompiledProgram>& programs,
                   const Population& population)
    : job_(job),
      population_(population),
      table_(job, programs, population),
      states_(population.participants.size()) {
  std::size_t clocks = 0;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const Population::Participant& participant = population.participants[i];
    states_[i].program = &programs[participant.program.index()];
    paces_.emplace_back(job, participant.rank);
    states_[i].first_clock = clocks;
    clocks += states_[i].program->stream_count + states_[i].program->register_count;
  }
  clocks_.resize(clocks + 1);  // one more, so that a rank without streams has a first clock too
  for (std::size_t i = states_.size(); i > 0; --i) {
    enqueue(ParticipantId{static_cast<std::uint32_t>(i - 1)});
  }
}

bool RunAhead::run() {
  do {
    run_work_list();
    if (finished_count_ == states_.size()) return true;
  } while (all_look_ahead());
  return false;
}

void RunAhead::run_work_list() {
  while (!work_list_.empty()) {
    const ParticipantId id = work_list_.back();
    work_list_.pop_back();
    State& state = states_[id.index()];
    state.queued = false;
    state.awaited = none;
    if (state.look_ahead == none) {
      run_plain(id);
    } else {
      run_looking_ahead(id);
    }
  }
}

void RunAhead::run_plain(ParticipantId id) {
  State& state = states_[id.index()];
  const Instruction* const code = state.program->instructions.data();
  const EventClocks registers{clocks_.data() + state.first_clock + state.program->stream_count,
                              false};
  for (;; ++state.position) {
    const Instruction& instruction = code[state.position];
    const std::int64_t issued = later_by(state.host_ps, instruction.host_time);
    if (execute(id, state, instruction, issued, registers) == Outcome::blocked) {
      return;
    }
    if (instruction.kind == Instruction::Kind::finish) return;
  }
}

inline std::int64_t RunAhead::kernel_time(ParticipantId id, const Instruction& instruction) const {
  return paces_[id.index()].of(Time::picoseconds(instruction.duration), instruction.op).count_ps();
}

/// Runs one instruction. Moves the host's clock only when it is done.
inline RunAhead::Outcome RunAhead::execute(ParticipantId id, State& state,
                                           const Instruction& instruction, std::int64_t issued_ps,
                                           EventClocks events) {
  std::int64_t& stream = clocks_[state.first_clock + instruction.stream];
  switch (instruction.kind) {
    case Instruction::Kind::kernel:
      if (!redeem(id, state, stream)) return Outcome::blocked;
      stream = later_by(std::max(issued_ps, stream), kernel_time(id, instruction));
      break;
    case Instruction::Kind::meet:
      if (!redeem(id, state, stream)) return Outcome::blocked;
      meet(id, state, instruction, std::max(issued_ps, stream));
      break;
    case Instruction::Kind::record:
      events.of(instruction) = stream;
      break;
    case Instruction::Kind::wait:
      if (!redeem(id, state, events.of(instruction))) return Outcome::blocked;
      if (!redeem(id, state, stream)) return Outcome::blocked;
      stream = std::max(stream, events.of(instruction));
      break;
    case Instruction::Kind::sync_record:
      if (!redeem(id, state, events.of(instruction))) return Outcome::blocked;
      issued_ps = std::max(issued_ps, events.of(instruction));
      break;
    case Instruction::Kind::sync_stream:
      if (!redeem(id, state, stream)) return Outcome::blocked;
      issued_ps = std::max(issued_ps, stream);
      break;
    case Instruction::Kind::finish:
      if (!finish(id, state)) return Outcome::blocked;
      break;
  }
  state.host_ps = issued_ps;
  return Outcome::done;
}

/// Replaces a claim by the end it stands for. When that is not known yet, notes what the rank waits
/// for and returns false.
inline bool RunAhead::redeem(ParticipantId id, State& state, std::int64_t& clock) {
  if (clock_value::is_known(clock)) return true;
  if (clock == clock_value::unknown) return false;
  const ProgramMeeting& meeting = state.program->meetings[clock_value::claimed_meeting(clock)];
  const RendezvousId rendezvous = population_.bound_to(id, meeting.slot);
  if (table_.completed(rendezvous) <= meeting.index) {
    state.awaited = rendezvous.value;
    return false;
  }
  clock = table_.meeting(rendezvous, meeting.index).end.count_ps();
  return true;
}

void RunAhead::meet(ParticipantId id, State& state, const Instruction& instruction,
                    std::int64_t arrival_ps) {
  const RendezvousId rendezvous = population_.bound_to(id, SlotId{instruction.first});
  clocks_[state.first_clock + instruction.stream] = clock_value::claim(instruction.second);
  const std::uint32_t index = state.program->meetings[instruction.second].index;
  const ClassId rank_class = population_.participants[id.index()].rank_class;
  if (table_.arrive(rendezvous, index, rank_class, arrival_ps)) wake_members(rendezvous);
}

bool RunAhead::finish(ParticipantId id, State& state) {
  for (std::uint32_t stream = 0; stream < state.program->stream_count; ++stream) {
    if (!redeem(id, state, clocks_[state.first_clock + stream])) return false;
  }
  state.finished = true;
  ++finished_count_;
  return true;
}

void RunAhead::wake_members(RendezvousId rendezvous) {
  for (const Population::Member& member : table_.members(rendezvous)) {
    const State& state = states_[member.participant.index()];
    if (state.awaited == rendezvous.value || state.look_ahead != none) enqueue(member.participant);
  }
}

void RunAhead::enqueue(ParticipantId id) {
  State& state = states_[id.index()];
  if (state.queued || state.finished) return;
  state.queued = true;
  work_list_.push_back(id);
}

/// Lets every unfinished rank look ahead. Returns whether any got further.
bool RunAhead::all_look_ahead() {
  bool progress = false;
  for (std::uint32_t r = 0; r < states_.size(); ++r) {
    if (states_[r].finished) continue;
    if (states_[r].look_ahead == none) begin_look_ahead(ParticipantId{r});
    progress = run_looking_ahead(ParticipantId{r}) || progress;
  }
  return progress;
}

/// From here on the rank keeps every record apart: postponed instructions may read a record after
/// its register would have been used again.
void RunAhead::begin_look_ahead(ParticipantId id) {
  State& state = states_[id.index()];
  state.look_ahead = static_cast<std::uint32_t>(look_ahead_.size());
  LookAhead& ahead = look_ahead_.emplace_back();
  ahead.stream_blocked.resize(state.program->stream_count);
  ahead.records.assign(state.program->record_count, clock_value::unknown);
  const auto& code = state.program->instructions;
  std::vector<bool> set(state.program->record_count);
  for (std::size_t i = 0; i < state.position; ++i) {
    if (code[i].kind == Instruction::Kind::record) set[code[i].second] = true;
  }
  for (std::size_t i = state.position; i < code.size(); ++i) {
    const bool reads =
        code[i].kind == Instruction::Kind::wait || code[i].kind == Instruction::Kind::sync_record;
    if (!reads || !set[code[i].second]) continue;
    ahead.records[code[i].second] =
        clocks_[state.first_clock + state.program->stream_count + code[i].first];
  }
}

bool RunAhead::run_looking_ahead(ParticipantId id) {
  LookAhead& ahead = look_ahead_[states_[id.index()].look_ahead];
  const bool caught_up = run_postponed(id, ahead);
  return issue_ahead(id, ahead) || caught_up;
}

/// Runs what was postponed, in issue order on each stream. Returns whether anything could run.
bool RunAhead::run_postponed(ParticipantId id, LookAhead& ahead) {
  State& state = states_[id.index()];
  std::fill(ahead.stream_blocked.begin(), ahead.stream_blocked.end(), false);
  const EventClocks events{ahead.records.data(), true};
  std::size_t kept = 0;
  for (std::size_t i = 0; i < ahead.postponed.size(); ++i) {
    const Postponed entry = ahead.postponed[i];
    const Instruction& instruction = state.program->instructions[entry.instruction];
    const std::int64_t host = state.host_ps;
    if (!ahead.stream_blocked[instruction.stream] &&
        execute(id, state, instruction, entry.issued_ps, events) == Outcome::done) {
      state.host_ps = host;  // which had moved on when the instruction was issued
      continue;
    }
    ahead.stream_blocked[instruction.stream] = true;
    ahead.postponed[kept++] = entry;
  }
  const bool any_ran = kept < ahead.postponed.size();
  ahead.postponed.resize(kept);
  return any_ran;
}

/// Issues on until an arrival past something blocked gives others a chance, or the host itself is
/// blocked. Returns whether anything was issued.
bool RunAhead::issue_ahead(ParticipantId id, LookAhead& ahead) {
  State& state = states_[id.index()];
  const EventClocks events{ahead.records.data(), true};
  bool any_issued = false;
  for (bool arrived = false; !arrived && !state.finished; ++state.position, any_issued = true) {
    const Instruction& instruction = state.program->instructions[state.position];
    const std::int64_t issued = later_by(state.host_ps, instruction.host_time);
    const bool host_waits = instruction.kind == Instruction::Kind::sync_record ||
                            instruction.kind == Instruction::Kind::sync_stream ||
                            instruction.kind == Instruction::Kind::finish;
    const bool behind = instruction.kind == Instruction::Kind::finish
                            ? !ahead.postponed.empty()
                            : instruction.kind != Instruction::Kind::sync_record &&
                                  ahead.stream_blocked[instruction.stream];
    if (!behind && execute(id, state, instruction, issued, events) == Outcome::done) {
      arrived = instruction.kind == Instruction::Kind::meet && !ahead.postponed.empty();
      continue;
    }
    if (host_waits) return any_issued;
    ahead.stream_blocked[instruction.stream] = true;
    ahead.postponed.push_back({state.position, issued});
    state.host_ps = issued;
  }
  return any_issued;
}

Time RunAhead::end_of(ParticipantId id) const {
  const State& state = states_[id.index()];
  std::int64_t end = state.host_ps;
  for (std::uint32_t stream = 0; stream < state.program->stream_count; ++stream) {
    end = std::max(end, clocks_[state.first_clock + stream]);
  }
  return Time::picoseconds(end);
}

}  // namespace stepsim::sim
