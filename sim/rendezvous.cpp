#include "sim/rendezvous.hpp"

#include <algorithm>
#include <utility>

namespace stepsim::sim {

namespace {

/// Explains why the members of a rendezvous can never agree about its meetings.
class Disagreement {
 public:
  using Member = RendezvousTable::Member;

  Disagreement(const Job& job, const std::vector<CompiledProgram>& programs, RendezvousId id)
      : job_(job), programs_(programs), id_(id) {}

  /// Throws when the two members do not issue the same sequence of collectives.
  void check(const Member& first, const Member& other) const {
    const auto& a = sequence(first);
    const auto& b = sequence(other);
    const std::size_t common = std::min(a.size(), b.size());
    for (std::size_t i = 0; i < common; ++i) {
      if (target(first, a[i]) != target(other, b[i])) throw different(first, other, i);
    }
    if (a.size() != b.size())
      throw a.size() > b.size() ? absent(first, other) : absent(other, first);
  }

 private:
  const CompiledProgram& compiled(const Member& member) const {
    return programs_[job_.ranks[member.rank.index()].program.index()];
  }
  const Program& program(const Member& member) const {
    return job_.programs[job_.ranks[member.rank.index()].program.index()];
  }
  const std::vector<std::uint32_t>& sequence(const Member& member) const {
    return compiled(member).meetings_of_slot[member.slot.index()];
  }
  std::uint32_t op_index(const Member& member, std::uint32_t meeting) const {
    return compiled(member).meetings[meeting].op;
  }
  std::uint32_t target(const Member& member, std::uint32_t meeting) const {
    return program(member).ops[op_index(member, meeting)].target;
  }

  std::string describe(const Member& member, std::size_t index) const {
    const std::uint32_t op_number = op_index(member, sequence(member)[index]);
    const Op& op = program(member).ops[op_number];
    return job_.collectives[op.target].name + " (" + describe_op(op, op_number, member) + ")";
  }
  std::string describe_op(const Op& op, std::uint32_t number, const Member& member) const {
    const Program& code = program(member);
    std::string text = "op " + std::to_string(number) + " of program «" + code.name + "»";
    if (op.scope.index() < code.scopes.size() && !code.scopes[op.scope.index()].empty()) {
      text += ", " + code.scopes[op.scope.index()];
    }
    return text;
  }

  DeadlockError different(const Member& a, const Member& b, std::size_t index) const {
    return DeadlockError("members of " + describe_rendezvous(job_, id_) +
                         " disagree about its operation number " + std::to_string(index) +
                         ": rank " + std::to_string(a.rank.value) + " issues " +
                         describe(a, index) + ", rank " + std::to_string(b.rank.value) +
                         " issues " + describe(b, index));
  }

  DeadlockError absent(const Member& present, const Member& missing) const {
    const std::size_t index = sequence(missing).size();
    return DeadlockError(
        "operation number " + std::to_string(index) + " of " + describe_rendezvous(job_, id_) +
        " can never start: rank " + std::to_string(present.rank.value) + " issues " +
        describe(present, index) + ", but rank " + std::to_string(missing.rank.value) +
        " (program «" + program(missing).name + "») ends after issuing " + std::to_string(index) +
        " of " + std::to_string(sequence(present).size()) + " there");
  }

  const Job& job_;
  const std::vector<CompiledProgram>& programs_;
  RendezvousId id_;
};

}  // namespace

std::string describe_rendezvous(const Job& job, RendezvousId id) {
  if (id.index() < job.communicators.size()) {
    const Communicator& communicator = job.communicators[id.index()];
    return "communicator " + std::to_string(id.value) + " (" + communicator.group + ", " +
           std::to_string(communicator.members.size()) + " ranks)";
  }
  const std::size_t index = id.index() - job.communicators.size();
  const Channel& channel = job.channels[index];
  return "channel " + std::to_string(index) + " (" + channel.group + ", rank " +
         std::to_string(channel.sender.value) + " to rank " +
         std::to_string(channel.receiver.value) + ")";
}

RendezvousTable::RendezvousTable(const Job& job, const std::vector<CompiledProgram>& programs) {
  bind(job);
  cost_meetings(job, programs);
}

void RendezvousTable::bind(const Job& job) {
  rendezvous_.resize(job.communicators.size() + job.channels.size());
  for (std::uint32_t r = 0; r < job.ranks.size(); ++r) {
    const RankSetup& setup = job.ranks[r];
    const std::vector<Slot>& slots = job.programs[setup.program.index()].slots;
    first_binding_.push_back(bindings_.size());
    for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
      const std::size_t base = slots[slot].is_channel ? job.communicators.size() : 0;
      const std::size_t id = base + setup.bindings[slot];
      bindings_.push_back(static_cast<std::uint32_t>(id));
      rendezvous_[id].members.push_back({Rank{r}, SlotId{slot}});
    }
  }
}

void RendezvousTable::cost_meetings(const Job& job, const std::vector<CompiledProgram>& programs) {
  for (std::uint32_t i = 0; i < rendezvous_.size(); ++i) {
    Rendezvous& rendezvous = rendezvous_[i];
    const bool is_channel = i >= job.communicators.size();
    const std::uint32_t row = is_channel ? job.channels[i - job.communicators.size()].cost_row
                                         : job.communicators[i].cost_row;
    const Member& first = rendezvous.members.front();
    rendezvous.lowest_member = first.rank;
    const Disagreement disagreement(job, programs, RendezvousId{i});
    std::pair<ProgramId, SlotId> checked{job.ranks[first.rank.index()].program, first.slot};
    for (const Member& member : rendezvous.members) {
      const std::pair<ProgramId, SlotId> place{job.ranks[member.rank.index()].program, member.slot};
      if (place == checked) continue;
      disagreement.check(first, member);
      checked = place;
    }
    const ProgramId program = job.ranks[first.rank.index()].program;
    const CompiledProgram& code = programs[program.index()];
    for (const std::uint32_t meeting : code.meetings_of_slot[first.slot.index()]) {
      const Op& op = job.programs[program.index()].ops[code.meetings[meeting].op];
      const CollectiveCost& cost = job.collective_costs[row][op.target];
      rendezvous.cost_ps.push_back((cost.latency + cost.transfer).count_ps());
    }
    rendezvous.arrived.resize(rendezvous.cost_ps.size());
    rendezvous.meetings.resize(rendezvous.cost_ps.size());
  }
}

bool RendezvousTable::arrive(RendezvousId id, std::uint32_t index, Rank rank,
                             std::int64_t arrival_ps) {
  Rendezvous& rendezvous = rendezvous_[id.index()];
  Meeting& meeting = rendezvous.meetings[index];
  const Time arrival = Time::picoseconds(arrival_ps);
  const bool first = rendezvous.arrived[index]++ == 0;
  if (first || arrival > meeting.start ||
      (arrival == meeting.start && rank < meeting.last_to_arrive)) {
    meeting.start = arrival;
    meeting.last_to_arrive = rank;
  }
  const std::uint32_t before = rendezvous.completed;
  while (rendezvous.completed < rendezvous.meetings.size() &&
         rendezvous.arrived[rendezvous.completed] == rendezvous.members.size()) {
    complete_next(rendezvous);
  }
  return rendezvous.completed != before;
}

void RendezvousTable::complete_next(Rendezvous& rendezvous) {
  Meeting& meeting = rendezvous.meetings[rendezvous.completed];
  if (rendezvous.completed > 0) {
    // A busy rendezvous holds every member back alike: all arrive when it is free.
    const Time free_at = rendezvous.meetings[rendezvous.completed - 1].end;
    if (free_at >= meeting.start) {
      meeting.start = free_at;
      meeting.last_to_arrive = rendezvous.lowest_member;
    }
  }
  meeting.end = meeting.start + Time::picoseconds(rendezvous.cost_ps[rendezvous.completed]);
  ++rendezvous.completed;
}

std::vector<std::vector<Meeting>> RendezvousTable::take_meetings() {
  std::vector<std::vector<Meeting>> meetings;
  meetings.reserve(rendezvous_.size());
  for (Rendezvous& rendezvous : rendezvous_) meetings.push_back(std::move(rendezvous.meetings));
  return meetings;
}

}  // namespace stepsim::sim
