#include "sim/job.hpp"

#include "sim/base/error.hpp"
#include "sim/base/wide_integers.hpp"

#include <algorithm>

namespace stepsim::sim {

const char* to_string(Clock clock) {
  switch (clock) {
    case Clock::compute:
      return "compute";
    case Clock::memory:
      return "memory";
    case Clock::communication:
      return "communication";
    case Clock::overhead:
      return "overhead";
  }
  throw InternalError("a clock out of range");
}

Time scaled_kernel_time(Time time, std::uint32_t compute_time_millionths) {
  if (compute_time_millionths == RankSetup::usual_compute_time) return time;
  constexpr std::uint32_t one = RankSetup::usual_compute_time;
  std::int64_t narrow = 0;  // nearly always enough, and quicker to divide
  if (!__builtin_mul_overflow(time.count_ps(), std::int64_t{compute_time_millionths}, &narrow) &&
      narrow < INT64_MAX - one) {
    return Time::picoseconds((narrow + (one - 1)) / one);
  }
  const WideSigned scaled =
      (WideSigned{time.count_ps()} * compute_time_millionths + (one - 1)) / one;
  if (scaled > INT64_MAX) throw RangeError("a kernel on a slow rank takes more than 106 days");
  return Time::picoseconds(static_cast<std::int64_t>(scaled));
}

bool shares_resources(const Job& job) {
  const auto slows = [](const KernelCost& kernel) {
    return !kernel.sharing.by_sms_taken.empty() || !kernel.sharing.by_memory_taken.empty();
  };
  const auto uses_links = [](const auto& meeting_place) { return !meeting_place.links.empty(); };
  return std::any_of(job.kernels.begin(), job.kernels.end(), slows) ||
         std::any_of(job.communicators.begin(), job.communicators.end(), uses_links) ||
         std::any_of(job.channels.begin(), job.channels.end(), uses_links);
}

namespace {

[[noreturn]] void fail(const std::string& problem) { throw InternalError("job: " + problem); }

std::string number(std::size_t value) { return std::to_string(value); }

/// Where a problem is: named only when there is one, since a job has many places.
struct OpPlace {
  const Program& program;
  std::size_t index;
  std::string operator+(const char* problem) const {
    return "program «" + program.name + "», op " + number(index) + " (" +
           to_string(program.ops[index].kind) + ")" + problem;
  }
};

struct GroupPlace {
  const char* kind;
  std::size_t index;
  const std::string& group;
  std::string operator+(const char* problem) const {
    return std::string(kind) + " " + number(index) + " (" + group + ")" + problem;
  }
};

void check_target(const Job& job, const Program& program, const Op& op, const OpPlace& place) {
  const auto in_range = [&](std::size_t count, const char* what) {
    if (op.target >= count) fail((place + " names no ") + what);
  };
  switch (op.kind) {
    case OpKind::kernel:
      return in_range(job.kernels.size(), "kernel");
    case OpKind::collective:
    case OpKind::send:
    case OpKind::receive:
      return in_range(job.collectives.size(), "collective");
    case OpKind::record:
    case OpKind::wait:
      return in_range(program.event_count, "event");
    case OpKind::host_sync:
      if (op.target != Op::no_target) in_range(program.event_count, "event");
      return;
    case OpKind::allocate:
    case OpKind::free:
      return in_range(program.buffers.size(), "buffer");
    case OpKind::host_work:
      return;
  }
}

void check_op(const Job& job, const Program& program, std::size_t index) {
  const Op& op = program.ops[index];
  const OpPlace place{program, index};
  check_target(job, program, op, place);
  const bool syncs_stream = op.kind == OpKind::host_sync && op.target == Op::no_target;
  if ((is_stream_op(op.kind) || syncs_stream) && op.stream.index() >= program.streams.size()) {
    fail(place + " names no stream");
  }
  if (op.host_time < Time::zero()) fail(place + " has a negative host time");
  if (op.scope.value != 0 && op.scope.index() >= program.scopes.size()) {
    fail(place + " names no scope");
  }
  if (!is_coupling_op(op.kind)) return;
  if (op.slot.index() >= program.slots.size()) fail(place + " names no slot");
  if (program.slots[op.slot.index()].is_channel != (op.kind != OpKind::collective)) {
    fail(place + " uses a slot of the other kind");
  }
}

void check_speeds(const KernelCost& kernel, const std::vector<SpeedStep>& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool sorted = i == 0 || steps[i - 1].taken < steps[i].taken;
    if (!sorted || steps[i].speed == 0 || steps[i].speed > SpeedStep::full_speed) {
      fail("kernel «" + kernel.name + "» has an unsorted speed table or a speed out of range");
    }
  }
}

void check_links(const Job& job, const std::vector<LinkUse>& links, const GroupPlace& place) {
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (links[i].link.index() >= job.links.size()) fail(place + " names no link");
    if (links[i].times == 0) fail(place + " crosses a link zero times");
    if (i > 0 && links[i - 1].link >= links[i].link) fail(place + " has unsorted links");
  }
}

void check_costs(const Job& job) {
  if (job.jitter.spread_65536ths >= Jitter::whole) fail("noise that leaves no time to a kernel");
  for (const Link& link : job.links) {
    if (link.capacity < 1) fail("link «" + link.name + "» without capacity");
  }
  for (const KernelCost& kernel : job.kernels) {
    if (kernel.fixed < Time::zero() || kernel.time < kernel.fixed) {
      fail("kernel «" + kernel.name + "» takes less than its fixed part");
    }
    check_speeds(kernel, kernel.sharing.by_sms_taken);
    check_speeds(kernel, kernel.sharing.by_memory_taken);
  }
  for (const auto& row : job.collective_costs) {
    if (row.size() != job.collectives.size()) fail("a cost row without every collective");
    for (const CollectiveCost& cost : row) {
      if (cost.latency < Time::zero() || cost.transfer < Time::zero() || cost.rate < 0 ||
          cost.slow_part < Time::zero() || cost.slow_part > cost.transfer) {
        fail("a collective with a negative cost");
      }
    }
  }
}

/// Where a rank binds a communicator or channel: its rank and how often.
using BoundBy = std::vector<std::vector<Rank>>;

void collect_bindings(const Job& job, Rank rank, BoundBy& communicators, BoundBy& channels) {
  const RankSetup& setup = job.ranks[rank.index()];
  const auto fail_here = [&](const std::string& problem) {
    fail("rank " + number(rank.index()) + problem);
  };
  if (setup.program.index() >= job.programs.size()) fail_here(" runs no program");
  if (setup.compute_time_millionths == 0) fail_here(" computes in no time");
  const std::vector<Slot>& slots = job.programs[setup.program.index()].slots;
  if (setup.bindings.size() != slots.size()) fail_here(" does not bind every slot");
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    BoundBy& bound = slots[slot].is_channel ? channels : communicators;
    const std::uint32_t target = setup.bindings[slot];
    if (target >= bound.size()) fail_here(" binds slot " + number(slot) + " to nothing");
    bound[target].push_back(rank);
  }
}

void check_communicator(const Job& job, std::size_t index, const std::vector<Rank>& bound_by) {
  const Communicator& communicator = job.communicators[index];
  const GroupPlace place{"communicator", index, communicator.group};
  if (communicator.cost_row >= job.collective_costs.size()) fail(place + " has no cost row");
  check_links(job, communicator.links, place);
  if (communicator.members == bound_by && !bound_by.empty() &&
      std::adjacent_find(bound_by.begin(), bound_by.end()) == bound_by.end()) {
    return;
  }
  std::vector<Rank> members = communicator.members;
  if (members.empty()) fail(place + " has no members");
  std::sort(members.begin(), members.end());
  if (std::adjacent_find(members.begin(), members.end()) != members.end()) {
    fail(place + " has a member twice");
  }
  if (members != bound_by) fail(place + " is not bound once by each of its members alone");
}

void check_channel(const Job& job, std::size_t index, const std::vector<Rank>& bound_by) {
  const Channel& channel = job.channels[index];
  const GroupPlace place{"channel", index, channel.group};
  if (channel.cost_row >= job.collective_costs.size()) fail(place + " has no cost row");
  check_links(job, channel.links, place);
  if (channel.sender == channel.receiver) fail(place + " leads from a rank to itself");
  const auto [low, high] = std::minmax(channel.sender, channel.receiver);
  if (bound_by.size() != 2 || bound_by[0] != low || bound_by[1] != high)
    fail(place + " is not bound once by each end");
}

/// For each slot of a program, whether it sends or receives there (a communicator: neither).
struct SlotUse {
  bool sends = false;
  bool receives = false;
};

std::vector<SlotUse> slot_uses(const Program& program) {
  std::vector<SlotUse> uses(program.slots.size());
  for (const Op& op : program.ops) {
    if (op.kind == OpKind::send) uses[op.slot.index()].sends = true;
    if (op.kind == OpKind::receive) uses[op.slot.index()].receives = true;
  }
  return uses;
}

/// The sender's program may only send on the channel, the receiver's only receive.
void check_directions(const Job& job, Rank rank, const std::vector<SlotUse>& uses) {
  const RankSetup& setup = job.ranks[rank.index()];
  for (std::size_t slot = 0; slot < uses.size(); ++slot) {
    if (!job.programs[setup.program.index()].slots[slot].is_channel) continue;
    const Channel& channel = job.channels[setup.bindings[slot]];
    if ((uses[slot].sends && channel.sender != rank) ||
        (uses[slot].receives && channel.receiver != rank)) {
      fail("rank " + number(rank.index()) + " uses channel " + number(setup.bindings[slot]) + " (" +
           channel.group + ") against its direction");
    }
  }
}

}  // namespace

void check_job(const Job& job) {
  for (const Program& program : job.programs) {
    for (std::size_t i = 0; i < program.ops.size(); ++i) check_op(job, program, i);
  }
  check_costs(job);
  BoundBy communicators(job.communicators.size());
  BoundBy channels(job.channels.size());
  for (std::uint32_t r = 0; r < job.ranks.size(); ++r) {
    collect_bindings(job, Rank{r}, communicators, channels);
  }
  for (std::size_t i = 0; i < communicators.size(); ++i) {
    check_communicator(job, i, communicators[i]);
  }
  for (std::size_t i = 0; i < channels.size(); ++i) check_channel(job, i, channels[i]);
  std::vector<std::vector<SlotUse>> uses;
  for (const Program& program : job.programs) uses.push_back(slot_uses(program));
  for (std::uint32_t r = 0; r < job.ranks.size(); ++r) {
    check_directions(job, Rank{r}, uses[job.ranks[r].program.index()]);
  }
}

}  // namespace stepsim::sim
