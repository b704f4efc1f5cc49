#include "sim/attribution.hpp"

#include "sim/base/wide_integers.hpp"

#include <map>
#include <utility>

namespace stepsim::sim {

namespace {

struct GroupSum {
  WideSigned count = 0;
  WideSigned bytes = 0;
  WideSigned busy = 0;
  WideSigned exposed = 0;
};

/// Sums over ranks, in picoseconds: 64 bits do not hold those of many ranks and a long step.
class Sums {
 public:
  void add(const TimeLine& line, std::int64_t ranks) {
    ranks_ += ranks;
    compute_ += scaled(line.compute, ranks);
    bubble_ += scaled(line.bubble, ranks);
    overlapped_ += scaled(line.overlapped, ranks);
    busy_communication_ += scaled(line.busy_communication, ranks);
    for (std::size_t i = 0; i < idle_.size(); ++i) {
      idle_[i] += scaled(line.idle_by_cause[i], ranks);
    }
    for (const GroupUse& use : line.communication) {
      GroupSum& group = groups_[{use.group, use.op}];
      group.count += WideSigned{use.count} * ranks;
      group.bytes += WideSigned{use.bytes.count()} * ranks;
      group.busy += scaled(use.busy, ranks);
      group.exposed += scaled(use.exposed, ranks);
    }
  }

  /// Each part is the difference of two running sums divided and rounded down: so they sum to the
  /// step's time, of which the last running sum is a whole multiple.
  TimeLine mean() {
    TimeLine line;
    line.compute = line.busy_compute = next_part(compute_);
    line.bubble = next_part(bubble_);
    for (const auto& [key, group] : groups_) {
      line.communication.push_back({key.first, key.second, rounded_down(group.count),
                                    Bytes(rounded_down(group.bytes)), divided(group.busy),
                                    next_part(group.exposed)});
      line.exposed += line.communication.back().exposed;
    }
    for (std::size_t i = 0; i < idle_.size(); ++i) {
      line.idle_by_cause[i] = next_part(idle_[i]);
      line.idle += line.idle_by_cause[i];
    }
    line.busy_communication = divided(busy_communication_);
    line.overlapped = divided(overlapped_);
    return line;
  }

 private:
  static WideSigned scaled(Time time, std::int64_t ranks) {
    return WideSigned{time.count_ps()} * ranks;
  }
  std::int64_t rounded_down(WideSigned sum) const {
    return static_cast<std::int64_t>(sum / ranks_);
  }
  Time divided(WideSigned sum) const { return Time::picoseconds(rounded_down(sum)); }

  Time next_part(WideSigned amount) {
    const Time before = divided(running_);
    running_ += amount;
    return divided(running_) - before;
  }

  std::int64_t ranks_ = 0;
  WideSigned compute_ = 0;
  WideSigned bubble_ = 0;
  WideSigned busy_communication_ = 0;
  WideSigned overlapped_ = 0;
  std::array<WideSigned, idle_cause_count> idle_{};
  std::map<std::pair<std::string, std::string>, GroupSum> groups_;
  WideSigned running_ = 0;
};

}  // namespace

TimeLine mean_time_line(const Job& job, const Execution& execution) {
  if (job.ranks.empty()) return {};
  const Classes& classes = execution.classes;
  Sums sums;
  for (std::size_t i = 0; i < classes.count(); ++i) {
    sums.add(time_line(job, execution, classes.representative[i]), classes.size[i]);
  }
  return sums.mean();
}

}  // namespace stepsim::sim
