#include "sim/rendezvous.hpp"

#include <algorithm>
#include <utility>

namespace stepsim::sim {

namespace {

/// Explains why the members of a rendezvous can never agree about its meetings.
class Disagreement {
 public:
  using Member = Population::Member;

  Disagreement(const Job& job, const std::vector<CompiledProgram>& programs,
               const Population& population, RendezvousId id)
      : job_(job), programs_(programs), population_(population), id_(id) {}

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
  ProgramId program_id(const Member& member) const {
    return population_.participants[member.participant.index()].program;
  }
  const CompiledProgram& compiled(const Member& member) const {
    return programs_[program_id(member).index()];
  }
  const Program& program(const Member& member) const {
    return job_.programs[program_id(member).index()];
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
                         ": rank " + std::to_string(a.participant.value) + " issues " +
                         describe(a, index) + ", rank " + std::to_string(b.participant.value) +
                         " issues " + describe(b, index));
  }

  DeadlockError absent(const Member& present, const Member& missing) const {
    const std::size_t index = sequence(missing).size();
    return DeadlockError(
        "operation number " + std::to_string(index) + " of " + describe_rendezvous(job_, id_) +
        " can never start: rank " + std::to_string(present.participant.value) + " issues " +
        describe(present, index) + ", but rank " + std::to_string(missing.participant.value) +
        " (program «" + program(missing).name + "») ends after issuing " + std::to_string(index) +
        " of " + std::to_string(sequence(present).size()) + " there");
  }

  const Job& job_;
  const std::vector<CompiledProgram>& programs_;
  const Population& population_;
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

RendezvousTable::RendezvousTable(const Job& job, const std::vector<CompiledProgram>& programs,
                                 const Population& population)
    : job_(job),
      programs_(programs),
      population_(population),
      rendezvous_(population.rendezvous.size()) {
  for (std::uint32_t i = 0; i < rendezvous_.size(); ++i) {
    check_agreement(RendezvousId{i});
    add_meetings(RendezvousId{i});
  }
}

void RendezvousTable::check_agreement(RendezvousId id) {
  const auto place_of = [&](const Population::Member& member) {
    return std::pair(population_.participants[member.participant.index()].program, member.slot);
  };
  const Population::Member& first = members(id).front();
  const Disagreement disagreement(job_, programs_, population_, id);
  auto checked = place_of(first);
  for (const Population::Member& member : members(id)) {
    if (place_of(member) == checked) continue;
    disagreement.check(first, member);
    checked = place_of(member);
    rendezvous_[id.index()].alike = false;
  }
}

const std::vector<const CollectiveCost*>& RendezvousTable::costs_of(ProgramId program, SlotId slot,
                                                                    std::uint32_t row) {
  const auto [known, is_new] = costs_.try_emplace({program.value, slot.value, row});
  if (is_new) {
    const CompiledProgram& code = programs_[program.index()];
    for (const std::uint32_t meeting : code.meetings_of_slot[slot.index()]) {
      const Op& op = job_.programs[program.index()].ops[code.meetings[meeting].op];
      known->second.push_back(&job_.collective_costs[row][op.target]);
    }
  }
  return known->second;
}

void RendezvousTable::add_meetings(RendezvousId id) {
  Rendezvous& rendezvous = rendezvous_[id.index()];
  const Population::Member& first = members(id).front();
  rendezvous.member_count = static_cast<std::uint32_t>(members(id).size());
  rendezvous.lowest_class = population_.participants[first.participant.index()].rank_class;
  for (const Population::Member& member : members(id)) {
    rendezvous.lowest_class = std::min(
        rendezvous.lowest_class, population_.participants[member.participant.index()].rank_class);
  }
  const auto& costs = costs_of(population_.participants[first.participant.index()].program,
                               first.slot, population_.rendezvous[id.index()].cost_row);
  rendezvous.costs = costs.data();
  rendezvous.meetings.resize(costs.size());
}

bool RendezvousTable::arrive(RendezvousId id, std::uint32_t index, ClassId rank_class,
                             std::int64_t arrival_ps) {
  Rendezvous& rendezvous = rendezvous_[id.index()];
  if (rendezvous.arrived.empty()) rendezvous.arrived.resize(rendezvous.meetings.size());
  note_arrival(rendezvous.meetings[index], rendezvous.arrived[index]++ == 0, rank_class,
               Time::picoseconds(arrival_ps));
  const std::uint32_t before = rendezvous.completed;
  while (rendezvous.completed < rendezvous.meetings.size() &&
         rendezvous.arrived[rendezvous.completed] == rendezvous.member_count) {
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
      meeting.last_to_arrive = rendezvous.lowest_class;
    }
  }
  const CollectiveCost& cost = *rendezvous.costs[rendezvous.completed];
  meeting.end = meeting.start + cost.latency + cost.transfer;
  ++rendezvous.completed;
}

std::vector<std::vector<Meeting>> RendezvousTable::take_meetings() {
  std::vector<std::vector<Meeting>> meetings;
  meetings.reserve(rendezvous_.size());
  for (Rendezvous& rendezvous : rendezvous_) meetings.push_back(std::move(rendezvous.meetings));
  return meetings;
}

}  // namespace stepsim::sim
