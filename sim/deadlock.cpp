#include "sim/deadlock.hpp"

#include "sim/base/error.hpp"

#include <algorithm>
#include <optional>

namespace stepsim::sim {

namespace {

/// One stuck instruction of one rank.
struct Stuck {
  ParticipantId rank;
  std::uint32_t instruction = 0;
  friend bool operator==(Stuck, Stuck) = default;
};

/// What a stuck instruction waits for: another one, and how.
struct Wait {
  Stuck on;
  std::string how;
};

/// Follows waits from one stuck instruction to the next.
class Waits {
 public:
  explicit Waits(const RunAhead& run) : run_(run), job_(run.job()) {}

  Stuck first() const {
    for (std::uint32_t r = 0; r < job_.ranks.size(); ++r) {
      const ParticipantId rank{r};
      if (run_.finished(rank)) continue;
      const auto& postponed = run_.look_ahead(rank).postponed;
      return {rank, postponed.empty() ? run_.host_position(rank) : postponed.front().instruction};
    }
    throw InternalError("no rank is stuck");
  }

  Wait wait_of(Stuck stuck) const {
    if (stuck.instruction > run_.host_position(stuck.rank)) return wait_for_host(stuck);
    const auto& postponed = run_.look_ahead(stuck.rank).postponed;
    const bool is_postponed = std::any_of(
        postponed.begin(), postponed.end(),
        [&](const RunAhead::Postponed& entry) { return entry.instruction == stuck.instruction; });
    if (is_postponed || stuck.instruction == run_.host_position(stuck.rank)) {
      return wait_before_running(stuck);
    }
    return wait_for_member(stuck);
  }

  std::string describe(Stuck stuck) const {
    const Program& program = job_.programs[job_.ranks[stuck.rank.index()].program.index()];
    const Instruction& instruction = code(stuck);
    std::string text =
        "rank " + std::to_string(stuck.rank.value) + " (program «" + program.name + "»)";
    if (instruction.kind == Instruction::Kind::finish) return text + ", end of the program";
    const Op& op = program.ops[instruction.op];
    text += ", op " + std::to_string(instruction.op) + " " + op_name(op);
    if (op.scope.index() < program.scopes.size() && !program.scopes[op.scope.index()].empty()) {
      text += " in " + program.scopes[op.scope.index()];
    }
    if (is_stream_op(op.kind)) text += " on stream «" + stream_name(stuck.rank, op.stream) + "»";
    return text;
  }

 private:
  const Instruction& code(Stuck stuck) const {
    return run_.program(stuck.rank).instructions[stuck.instruction];
  }

  std::string op_name(const Op& op) const {
    if (op.kind == OpKind::kernel) return "kernel " + job_.kernels[op.target].name;
    if (is_coupling_op(op.kind)) return job_.collectives[op.target].name;
    return to_string(op.kind);
  }

  std::string stream_name(ParticipantId rank, StreamId stream) const {
    return job_.programs[job_.ranks[rank.index()].program.index()].streams[stream.index()].name;
  }

  Stuck instruction_of_meeting(ParticipantId rank, std::uint32_t meeting) const {
    return find(rank, Instruction::Kind::meet, meeting);
  }

  Stuck find(ParticipantId rank, Instruction::Kind kind, std::uint32_t second) const {
    const auto& instructions = run_.program(rank).instructions;
    for (std::uint32_t i = 0; i < instructions.size(); ++i) {
      if (instructions[i].kind == kind && instructions[i].second == second) return {rank, i};
    }
    throw InternalError("a wait for an instruction that does not exist");
  }

  Wait wait_for_host(Stuck stuck) const {
    return {{stuck.rank, run_.host_position(stuck.rank)},
            "is not issued yet: the host of rank " + std::to_string(stuck.rank.value) +
                " is held by an earlier op"};
  }

  /// The rank has arrived; some member has not.
  Wait wait_for_member(Stuck stuck) const {
    const Instruction& instruction = code(stuck);
    const RendezvousId id = run_.population().bound_to(stuck.rank, SlotId{instruction.first});
    const std::uint32_t number = run_.table().completed(id);
    for (const Population::Member& member : run_.table().members(id)) {
      const std::uint32_t meeting =
          run_.program(member.participant).meetings_of_slot[member.slot.index()][number];
      const Stuck other = instruction_of_meeting(member.participant, meeting);
      if (has_arrived(other)) continue;
      return {other, "waits on " + describe_rendezvous(job_, id) + " for rank " +
                         std::to_string(member.participant.value) + " to reach operation number " +
                         std::to_string(number) + " there"};
    }
    throw InternalError("a meeting with all its members that is not over");
  }

  bool has_arrived(Stuck meet) const {
    if (run_.finished(meet.rank)) return true;
    if (meet.instruction >= run_.host_position(meet.rank)) return false;
    const auto& postponed = run_.look_ahead(meet.rank).postponed;
    return std::none_of(postponed.begin(), postponed.end(), [&](const RunAhead::Postponed& entry) {
      return entry.instruction == meet.instruction;
    });
  }

  Wait wait_before_running(Stuck stuck) const {
    const Instruction& instruction = code(stuck);
    using Kind = Instruction::Kind;
    if (instruction.kind == Kind::finish) return wait_for_any_stream(stuck);
    if (instruction.kind == Kind::wait || instruction.kind == Kind::sync_record) {
      if (auto wait = wait_for_record(stuck.rank, instruction)) return *wait;
    }
    if (instruction.kind != Kind::sync_record) {
      if (auto wait = wait_for_stream(stuck, instruction.stream)) return *wait;
    }
    throw InternalError("an op is stuck without a reason");
  }

  std::optional<Wait> wait_for_record(ParticipantId rank, const Instruction& instruction) const {
    const std::int64_t clock = run_.look_ahead(rank).records[instruction.second];
    if (clock_value::is_known(clock)) return std::nullopt;
    if (clock == clock_value::unknown) {
      return Wait{find(rank, Instruction::Kind::record, instruction.second),
                  "waits for an event that is recorded there"};
    }
    return Wait{instruction_of_meeting(rank, clock_value::claimed_meeting(clock)),
                "waits for an event that fires when this ends"};
  }

  std::optional<Wait> wait_for_stream(Stuck stuck, std::uint32_t stream) const {
    const std::string name = "stream «" + stream_name(stuck.rank, StreamId{stream}) + "»";
    for (const RunAhead::Postponed& entry : run_.look_ahead(stuck.rank).postponed) {
      if (entry.instruction >= stuck.instruction) break;
      if (run_.program(stuck.rank).instructions[entry.instruction].stream == stream) {
        return Wait{{stuck.rank, entry.instruction}, "is behind this on " + name};
      }
    }
    const std::int64_t clock = run_.stream_clock(stuck.rank, stream);
    if (clock_value::is_known(clock)) return std::nullopt;
    return Wait{instruction_of_meeting(stuck.rank, clock_value::claimed_meeting(clock)),
                "is behind this on " + name};
  }

  Wait wait_for_any_stream(Stuck stuck) const {
    for (std::uint32_t s = 0; s < run_.program(stuck.rank).stream_count; ++s) {
      if (auto wait = wait_for_stream(stuck, s)) return *wait;
    }
    throw InternalError("a program that has ended is stuck");
  }

  const RunAhead& run_;
  const Job& job_;
};

}  // namespace

std::string explain_deadlock(const RunAhead& run) {
  const Waits waits(run);
  std::vector<Stuck> visited;
  Stuck next = waits.first();
  while (std::find(visited.begin(), visited.end(), next) == visited.end()) {
    visited.push_back(next);
    next = waits.wait_of(next).on;
  }
  const auto cycle_begin = std::find(visited.begin(), visited.end(), next);
  std::string text = "the step can never finish: these ops wait on each other";
  for (auto it = cycle_begin; it != visited.end(); ++it) {
    text += "\n  " + waits.describe(*it) + ": " + waits.wait_of(*it).how;
  }
  return text + "\n  and so back to " + waits.describe(*cycle_begin);
}

}  // namespace stepsim::sim
