#include "sim/attribution.hpp"
#include "sim/intervals.hpp"
#include "sim/walk_back.hpp"

#include "sim/base/error.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace stepsim::sim {

const char* to_string(IdleCause cause) {
  switch (cause) {
    case IdleCause::launch:
      return "launch";
    case IdleCause::host_sync:
      return "host_sync";
    case IdleCause::data_loader:
      return "data_loader";
    case IdleCause::optimizer_wait:
      return "optimizer_wait";
    case IdleCause::copy:
      return "copy";
    case IdleCause::finished:
      return "finished";
  }
  throw InternalError("an idle cause out of range");
}

namespace {

constexpr std::uint32_t no_op = Op::no_target;

/// A stretch of a gap, as the walk back from its end explains it.
struct Stretch {
  Interval when;
  Place place;
  bool waits = false;  // a coupling op, for its members
};

/// A coupling op in progress, other than a pipeline op that waits.
struct Active {
  Interval when;
  std::uint32_t op = 0;
};

class TimeLiner {
 public:
  TimeLiner(const Job& job, const Execution& execution, Rank rank)
      : job_(job),
        step_time_(execution.step_time),
        rank_end_(execution.rank_end.at(rank.index())),
        walk_(job.programs[job.ranks.at(rank.index()).program.index()],
              replay(job, execution, rank)) {}

  TimeLine run() {
    collect_ops();
    const IntervalSet compute = unite(compute_);
    for (const Interval& gap : complement(compute, {Time::zero(), rank_end_})) explain(gap);
    line_.compute = line_.busy_compute = length(compute);
    add_idle(IdleCause::finished, step_time_ - rank_end_);
    const IntervalSet communication = unite(communication_);
    line_.busy_communication = length(communication);
    line_.overlapped = length(intersect(compute, communication));
    add_groups();
    if (line_.compute + line_.bubble + line_.exposed + line_.idle != step_time_) {
      throw InternalError("a time line that does not sum to the step");
    }
    return std::move(line_);
  }

 private:
  using GroupKey = std::pair<std::string, std::string>;
  struct Group {
    GroupUse use;
    std::vector<Interval> busy;
  };

  const Op& op(std::uint32_t index) const { return walk_.program().ops[index]; }

  bool couples(Place place) const {
    return place.part == Place::Part::run && is_coupling_op(op(place.op).kind);
  }

  bool is_pipeline(const Op& coupling) const {
    return coupling.kind != OpKind::collective &&
           walk_.program().slots[coupling.slot.index()].group == pipeline_group;
  }

  Group& group_of(std::uint32_t coupling_op) {
    const std::string& group = walk_.program().slots[op(coupling_op).slot.index()].group;
    const std::string& name = job_.collectives[op(coupling_op).target].name;
    Group& found = groups_[{group, name}];
    found.use.group = group;
    found.use.op = name;
    return found;
  }

  void collect_ops() {
    for (std::uint32_t i = 0; i < walk_.times().size(); ++i) {
      const OpTimes& times = walk_.times()[i];
      if (op(i).kind == OpKind::kernel) {
        const bool computes =
            walk_.program().streams[op(i).stream.index()].kind == StreamKind::compute;
        if (!computes || times.start == times.end) continue;
        compute_.push_back({times.start, times.end});
        kernels_.push_back(i);
      } else if (is_coupling_op(op(i).kind)) {
        collect_coupling_op(i, times);
      }
    }
    std::stable_sort(kernels_.begin(), kernels_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return walk_.times()[a].start < walk_.times()[b].start;
    });
    std::stable_sort(active_.begin(), active_.end(),
                     [](const Active& a, const Active& b) { return a.when.begin < b.when.begin; });
    for (const Active& active : active_) {
      const Time before = latest_end_.empty() ? Time::zero() : latest_end_.back();
      latest_end_.push_back(std::max(before, active.when.end));
    }
  }

  void collect_coupling_op(std::uint32_t index, const OpTimes& times) {
    Group& group = group_of(index);
    ++group.use.count;
    group.use.bytes += job_.collectives[op(index).target].bytes;
    group.busy.push_back({times.start, times.end});
    communication_.push_back({times.start, times.end});
    const Time from = is_pipeline(op(index)) ? times.start : times.arrival;
    if (from < times.end) active_.push_back({{from, times.end}, index});
  }

  /// Where the walk back from the end of a gap begins.
  std::optional<Place> closing_place(const Interval& gap) const {
    const auto kernel =
        std::lower_bound(kernels_.begin(), kernels_.end(), gap.end,
                         [&](std::uint32_t k, Time time) { return walk_.times()[k].start < time; });
    if (kernel == kernels_.end()) return walk_.last(rank_end_);
    return walk_.back({*kernel, Place::Part::run}).place;
  }

  void explain(const Interval& gap) {
    bool synced = false;
    const std::vector<Stretch> stretches = walk_through(gap, synced);
    std::uint32_t releaser = no_op;
    for (const Stretch& stretch : stretches) {
      if (couples(stretch.place) && releaser == no_op) releaser = stretch.place.op;
    }
    for (const Stretch& stretch : stretches) account(stretch, releaser, synced);
  }

  /// The stretches of the gap from its end to its beginning. Notes whether the walk passes through
  /// a host sync.
  std::vector<Stretch> walk_through(const Interval& gap, bool& synced) const {
    std::vector<Stretch> stretches;
    const auto add = [&](Time begin, Time end, Place place, bool waits) {
      const Interval when{std::max(begin, gap.begin), std::min(end, gap.end)};
      if (when.begin < when.end) stretches.push_back({when, place, waits});
    };
    std::optional<Place> place = closing_place(gap);
    synced = false;
    while (place && walk_.end(*place) > gap.begin) {
      const OpTimes& times = walk_.times()[place->op];
      if (couples(*place)) {
        add(times.start, times.end, *place, false);
        add(times.arrival, times.start, *place, true);
      } else {
        add(walk_.begin(*place), walk_.end(*place), *place, false);
      }
      const RankWalk::Back back = walk_.back(*place);
      synced = synced || (back.through_host_sync && walk_.begin(*place) >= gap.begin);
      place = back.place;
    }
    return stretches;
  }

  void account(const Stretch& stretch, std::uint32_t releaser, bool synced) {
    if (stretch.waits && is_pipeline(op(stretch.place.op))) {
      line_.bubble += stretch.when.end - stretch.when.begin;
    } else if (couples(stretch.place)) {
      add_exposed(releaser, stretch.when.end - stretch.when.begin);
    } else {
      account_uncoupled(stretch, releaser, synced);
    }
  }

  /// The walk is at the host or at a kernel of another stream: what part of that some coupling op
  /// of the rank spends in progress is exposed, the rest idle.
  void account_uncoupled(const Stretch& stretch, std::uint32_t releaser, bool synced) {
    Time exposed;
    Time reached = stretch.when.begin;
    for (const Active& active : active_during(stretch.when)) {
      const Time begin = std::max(active.when.begin, reached);
      const Time end = std::min(active.when.end, stretch.when.end);
      if (begin >= end) continue;
      add_exposed(releaser == no_op ? active.op : releaser, end - begin);
      exposed += end - begin;
      reached = end;
    }
    add_idle(idle_cause(stretch.place, synced), stretch.when.end - stretch.when.begin - exposed);
  }

  /// Coupling ops in progress at some instant of the interval, by their beginning.
  std::vector<Active> active_during(const Interval& when) const {
    std::vector<Active> during;
    const auto first = std::upper_bound(latest_end_.begin(), latest_end_.end(), when.begin);
    for (auto i = static_cast<std::size_t>(first - latest_end_.begin()); i < active_.size(); ++i) {
      if (active_[i].when.begin >= when.end) break;
      if (active_[i].when.end > when.begin) during.push_back(active_[i]);
    }
    return during;
  }

  IdleCause idle_cause(Place place, bool synced) const {
    const Program& program = walk_.program();
    const Op& cause = op(place.op);
    if (place.part == Place::Part::run) return synced ? IdleCause::host_sync : IdleCause::copy;
    if (cause.kind == OpKind::host_work && cause.scope.index() < program.scopes.size()) {
      const std::string_view scope = program.scopes[cause.scope.index()];
      if (scope.substr(0, data_loader_scope.size()) == data_loader_scope) {
        return IdleCause::data_loader;
      }
      if (scope.substr(0, optimizer_scope.size()) == optimizer_scope) {
        return IdleCause::optimizer_wait;
      }
    }
    return synced ? IdleCause::host_sync : IdleCause::launch;
  }

  void add_exposed(std::uint32_t coupling_op, Time amount) {
    line_.exposed += amount;
    group_of(coupling_op).use.exposed += amount;
  }

  void add_idle(IdleCause cause, Time amount) {
    line_.idle += amount;
    line_.idle_by_cause[static_cast<std::size_t>(cause)] += amount;
  }

  void add_groups() {
    for (auto& [key, group] : groups_) {
      group.use.busy = length(unite(std::move(group.busy)));
      line_.communication.push_back(std::move(group.use));
    }
  }

  const Job& job_;
  Time step_time_;
  Time rank_end_;
  RankWalk walk_;
  std::vector<Interval> compute_;
  std::vector<Interval> communication_;
  std::vector<std::uint32_t> kernels_;  // on compute streams, by start
  std::vector<Active> active_;          // by beginning
  std::vector<Time> latest_end_;        // of active_ up to each
  std::map<GroupKey, Group> groups_;
  TimeLine line_;
};

}  // namespace

TimeLine time_line(const Job& job, const Execution& execution, Rank rank) {
  return TimeLiner(job, execution, rank).run();
}

}  // namespace stepsim::sim
