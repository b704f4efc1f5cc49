#include "sim/attribution.hpp"
#include "sim/kernel_pace.hpp"
#include "sim/walk_back.hpp"

#include "sim/base/error.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace stepsim::sim {

namespace {

/// The coupling ops of each slot of a program, and each op's place among them.
struct SlotOps {
  std::vector<std::vector<std::uint32_t>> of_slot;
  std::vector<std::uint32_t> number;  // by op
  std::vector<std::uint32_t> all;

  explicit SlotOps(const Program& program)
      : of_slot(program.slots.size()), number(program.ops.size()) {
    for (std::uint32_t i = 0; i < program.ops.size(); ++i) {
      if (!is_coupling_op(program.ops[i].kind)) continue;
      auto& ops = of_slot[program.ops[i].slot.index()];
      number[i] = static_cast<std::uint32_t>(ops.size());
      ops.push_back(i);
      all.push_back(i);
    }
  }
};

/// Replays a rank of each class when the path first reaches the class, and forgets the oldest when
/// many are held.
class ReplayCache {
 public:
  ReplayCache(const Job& job, const Execution& execution) : job_(job), execution_(execution) {}

  const RankWalk& of(Rank rank) {
    const ClassId of_rank = execution_.classes.of_rank[rank.index()];
    if (const auto known = walks_.find(of_rank); known != walks_.end()) return known->second;
    const Program& program = job_.programs[job_.ranks[rank.index()].program.index()];
    while (!order_.empty() && held_ops_ + program.ops.size() > max_held_ops) forget_oldest();
    held_ops_ += program.ops.size();
    order_.push_back(of_rank);
    return walks_.emplace(of_rank, RankWalk(program, replay(job_, execution_, rank))).first->second;
  }

 private:
  static constexpr std::size_t max_held_ops = 1'000'000;  // about 60 MB

  void forget_oldest() {
    const auto oldest = walks_.find(order_.front());
    held_ops_ -= oldest->second.times().size();
    walks_.erase(oldest);
    order_.erase(order_.begin());
  }

  const Job& job_;
  const Execution& execution_;
  std::map<ClassId, RankWalk> walks_;
  std::vector<ClassId> order_;
  std::size_t held_ops_ = 0;
};

class PathFinder {
 public:
  PathFinder(const Job& job, const Execution& execution)
      : job_(job), execution_(execution), cache_(job, execution) {}

  CriticalPath run() {
    const auto last =
        std::find(execution_.rank_end.begin(), execution_.rank_end.end(), execution_.step_time);
    if (last == execution_.rank_end.end()) return {};
    rank_ = Rank{static_cast<std::uint32_t>(last - execution_.rank_end.begin())};
    reached_ = execution_.step_time;
    std::optional<Place> place = cache_.of(rank_).last(reached_);
    while (place) place = step_back(*place);
    if (reached_ != Time::zero()) throw InternalError("the critical path does not reach the start");
    return std::move(path_);
  }

 private:
  std::optional<Place> step_back(Place place) {
    const RankWalk& walk = cache_.of(rank_);
    if (walk.end(place) != reached_) throw InternalError("the critical path has a gap");
    const Op& op = walk.program().ops[place.op];
    if (place.part == Place::Part::issue) {
      add(place, walk.begin(place), Clock::overhead, Time::zero());
    } else if (op.kind == OpKind::kernel) {
      add_kernel(walk, place, job_.kernels[op.target]);
    } else {
      return step_to_last_member(walk, place);
    }
    return walk.back(place).place;
  }

  /// A collective is left where its last member arrived.
  std::optional<Place> step_to_last_member(const RankWalk& walk, Place place) {
    const Op& op = walk.program().ops[place.op];
    const RankSetup& setup = job_.ranks[rank_.index()];
    const bool is_channel = op.kind != OpKind::collective;
    const std::uint32_t bound = setup.bindings[op.slot.index()];
    const std::uint32_t row =
        is_channel ? job_.channels[bound].cost_row : job_.communicators[bound].cost_row;
    const CollectiveCost& cost = job_.collective_costs[row][op.target];
    const Time start = walk.times()[place.op].start;
    const Time sharing = reached_ - start - cost.latency - cost.transfer;
    const std::uint32_t number = slot_ops(setup.program).number[place.op];
    const Meeting& meeting = execution_.of_slot(job_, rank_, op.slot)[number];
    if (add(place, start, Clock::communication, cost.latency)) {
      path_.steps.back().slow_link = cost.slow_part;
      path_.steps.back().sharing = sharing;
      path_.steps.back().slowest_link = slowest_link(
          is_channel ? job_.channels[bound].links : job_.communicators[bound].links, meeting);
    }
    if (walk.times()[place.op].arrival == reached_) return walk.back(place).place;
    return last_arrival(members_of(bound, is_channel), bound, is_channel, number,
                        meeting.last_to_arrive);
  }

  std::optional<LinkId> slowest_link(const std::vector<LinkUse>& links,
                                     const Meeting& meeting) const {
    if (meeting.slowest_link_class == Meeting::no_link) return std::nullopt;
    for (const LinkUse& use : links) {
      if (execution_.classes.of_link[use.link.index()] == meeting.slowest_link_class) {
        return use.link;
      }
    }
    throw InternalError("a transfer slowed by a link that it does not cross");
  }

  std::vector<Rank> members_of(std::uint32_t bound, bool is_channel) const {
    if (!is_channel) return job_.communicators[bound].members;
    return {job_.channels[bound].sender, job_.channels[bound].receiver};
  }

  /// Goes to the lowest rank of the class that arrived at the meeting when it started, and from
  /// there to what that rank waited for.
  std::optional<Place> last_arrival(std::vector<Rank> members, std::uint32_t bound, bool is_channel,
                                    std::uint32_t number, ClassId last) {
    if (!std::is_sorted(members.begin(), members.end())) std::sort(members.begin(), members.end());
    std::vector<std::size_t> tried;  // slots: members of one class and slot arrive together
    for (const Rank member : members) {
      if (execution_.classes.of_rank[member.index()] != last) continue;
      const RankSetup& setup = job_.ranks[member.index()];
      const std::size_t slot = slot_bound_to(setup, bound, is_channel);
      if (std::find(tried.begin(), tried.end(), slot) != tried.end()) continue;
      tried.push_back(slot);
      const Place arrival{slot_ops(setup.program).of_slot[slot][number], Place::Part::run};
      const RankWalk& walk = cache_.of(member);
      if (walk.begin(arrival) != reached_) continue;
      rank_ = member;
      return walk.back(arrival).place;
    }
    throw InternalError("the last member of a meeting does not arrive at its start");
  }

  std::size_t slot_bound_to(const RankSetup& setup, std::uint32_t bound, bool is_channel) const {
    const std::vector<Slot>& slots = job_.programs[setup.program.index()].slots;
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      if (slots[slot].is_channel == is_channel && setup.bindings[slot] == bound) return slot;
    }
    throw InternalError("a meeting with a rank that does not take part");
  }

  const SlotOps& slot_ops(ProgramId program) {
    const auto known = slot_ops_.find(program);
    if (known != slot_ops_.end()) return known->second;
    return slot_ops_.emplace(program, SlotOps(job_.programs[program.index()])).first->second;
  }

  void add_kernel(const RankWalk& walk, Place place, const KernelCost& kernel) {
    const Time begin = walk.begin(place);
    const Time taken = reached_ - begin;
    const KernelPace pace(job_, rank_);
    const Time alone = pace.of(kernel.time, place.op);
    const Time even = pace.without_noise(kernel.time);
    if (!add(place, begin, kernel.clock, std::min(kernel.fixed, alone))) return;
    PathStep& step = path_.steps.back();
    if (even > kernel.time) step.slow_rank = even - kernel.time;
    step.noise = alone - even;
    step.sharing = taken - alone;
    move(step.sharing, kernel.clock, Clock::communication);
    if (step.sharing > Time::zero()) step.resident_op = resident_beside(walk, begin, step.end);
  }

  /// The first coupling op that is resident at some time of the interval.
  std::optional<std::uint32_t> resident_beside(const RankWalk& walk, Time begin, Time end) {
    const ProgramId program = job_.ranks[rank_.index()].program;
    for (const std::uint32_t op : slot_ops(program).all) {
      const OpTimes& times = walk.times()[op];
      if (times.arrival < end && times.end > begin) return op;
    }
    throw InternalError("a kernel that shares its device with nothing");
  }

  /// Goes back to `begin`, giving `fixed` of that to overhead and the rest to `clock`. Returns
  /// false for what took no time.
  bool add(Place place, Time begin, Clock clock, Time fixed) {
    if (begin == reached_) return false;
    path_.steps.push_back({rank_, place.op, begin, reached_, {}, {}, {}, {}, {}, {}, {}, false});
    path_.steps.back().issue = place.part == Place::Part::issue;
    give(fixed, Clock::overhead);
    give(reached_ - begin - fixed, clock);
    reached_ = begin;
    return true;
  }

  void give(Time amount, Clock clock) {
    path_.by_clock[static_cast<std::size_t>(clock)] += amount;
    path_.steps.back().by_clock[static_cast<std::size_t>(clock)] += amount;
  }

  void move(Time amount, Clock from, Clock to) {
    give(Time::zero() - amount, from);
    give(amount, to);
  }

  const Job& job_;
  const Execution& execution_;
  ReplayCache cache_;
  std::map<ProgramId, SlotOps> slot_ops_;
  Rank rank_;
  Time reached_;
  CriticalPath path_;
};

}  // namespace

CriticalPath critical_path(const Job& job, const Execution& execution) {
  return PathFinder(job, execution).run();
}

}  // namespace stepsim::sim
