#include "sim/attribution.hpp"

#include "sim/base/wide.hpp"

#include <map>
#include <utility>

namespace stepsim::sim {

namespace {

/// Gives equal lists of meetings equal numbers, in order of first appearance.
class MeetingNumbers {
 public:
  std::uint32_t of(const std::vector<Meeting>& meetings) {
    std::vector<Time> times;
    times.reserve(2 * meetings.size());
    for (const Meeting& meeting : meetings) {
      times.push_back(meeting.start);
      times.push_back(meeting.end);
    }
    const auto next = static_cast<std::uint32_t>(numbers_.size());
    return numbers_.emplace(std::move(times), next).first->second;
  }

 private:
  std::map<std::vector<Time>, std::uint32_t> numbers_;
};

struct Alike {
  Rank representative;
  std::int64_t ranks = 0;
};

/// The sets of ranks that run the same program and meet others at the same times: replay sees
/// nothing else of a rank.
std::vector<Alike> alike_ranks(const Job& job, const Execution& execution) {
  MeetingNumbers numbers;
  std::vector<std::uint32_t> communicators;
  std::vector<std::uint32_t> channels;
  for (const auto& meetings : execution.communicator_meetings) {
    communicators.push_back(numbers.of(meetings));
  }
  for (const auto& meetings : execution.channel_meetings) channels.push_back(numbers.of(meetings));

  std::map<std::vector<std::uint32_t>, std::size_t> known;
  std::vector<Alike> sets;
  for (std::uint32_t r = 0; r < job.ranks.size(); ++r) {
    const RankSetup& setup = job.ranks[r];
    const std::vector<Slot>& slots = job.programs[setup.program.index()].slots;
    std::vector<std::uint32_t> key{setup.program.value};
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      key.push_back((slots[slot].is_channel ? channels : communicators)[setup.bindings[slot]]);
    }
    const auto [entry, is_new] = known.emplace(std::move(key), sets.size());
    if (is_new) sets.push_back({Rank{r}, 0});
    ++sets[entry->second].ranks;
  }
  return sets;
}

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

MeanTimeLine mean_time_line(const Job& job, const Execution& execution) {
  const std::vector<Alike> sets = alike_ranks(job, execution);
  if (sets.empty()) return {};
  Sums sums;
  for (const Alike& set : sets) {
    sums.add(time_line(job, execution, set.representative), set.ranks);
  }
  return {sums.mean(), static_cast<std::int64_t>(sets.size())};
}

}  // namespace stepsim::sim
