#include "scenarios/mean_time_line.hpp"

#include "sim/base/wide.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace stepsim::scenarios {

namespace {

// Ranks whose programs and meetings are the same have the same time line: replay sees nothing else.
struct RankClass {
  sim::Rank representative;
  std::int64_t ranks = 1;
};

bool same_meetings(const std::vector<sim::Meeting>& a, const std::vector<sim::Meeting>& b) {
  const auto same = [](const sim::Meeting& x, const sim::Meeting& y) {
    return x.start == y.start && x.end == y.end;
  };
  return &a == &b || std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

bool same_meetings(const sim::Job& job, const sim::Execution& execution, std::size_t rank,
                   std::size_t other) {
  const sim::RankSetup& a = job.ranks[rank];
  const sim::RankSetup& b = job.ranks[other];
  const std::vector<sim::Slot>& slots = job.programs[a.program.index()].slots;
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    const auto& all =
        slots[slot].is_channel ? execution.channel_meetings : execution.communicator_meetings;
    if (!same_meetings(all[a.bindings[slot]], all[b.bindings[slot]])) return false;
  }
  return true;
}

std::vector<RankClass> classes_of(const sim::Job& job, const sim::Execution& execution) {
  std::vector<RankClass> classes;
  for (std::uint32_t rank = 0; rank < job.ranks.size(); ++rank) {
    const auto alike = [&](const RankClass& candidate) {
      const std::size_t other = candidate.representative.index();
      return job.ranks[rank].program == job.ranks[other].program &&
             same_meetings(job, execution, rank, other);
    };
    const auto found = std::find_if(classes.begin(), classes.end(), alike);
    if (found == classes.end()) {
      classes.push_back({sim::Rank{rank}, 1});
    } else {
      ++found->ranks;
    }
  }
  return classes;
}

// Sums of times over ranks need more than 64 bits: 16,384 ranks of a long step.
struct Sum {
  WideSigned total = 0;
  void add(Time time, std::int64_t ranks) { total += WideSigned{time.count_ps()} * ranks; }
  Time mean(std::int64_t ranks) const {
    return Time::picoseconds(static_cast<std::int64_t>(total / ranks));
  }
};

struct GroupSum {
  std::string group;
  std::string op;
  WideSigned count = 0;
  WideSigned bytes = 0;
  Sum busy;
  Sum exposed;
};

struct Sums {
  Sum bubble;
  std::array<Sum, sim::idle_cause_count> idle;
  std::vector<GroupSum> groups;
  Sum busy_compute;
  Sum busy_communication;
  Sum overlapped;
};

void add_group(std::vector<GroupSum>& groups, const sim::GroupUse& use, std::int64_t ranks) {
  const auto same = [&](const GroupSum& sum) { return sum.group == use.group && sum.op == use.op; };
  auto found = std::find_if(groups.begin(), groups.end(), same);
  if (found == groups.end()) {
    groups.push_back({use.group, use.op, 0, 0, {}, {}});
    found = groups.end() - 1;
  }
  found->count += WideSigned{use.count} * ranks;
  found->bytes += WideSigned{use.bytes.count()} * ranks;
  found->busy.add(use.busy, ranks);
  found->exposed.add(use.exposed, ranks);
}

void add(Sums& sums, const sim::TimeLine& line, std::int64_t ranks) {
  sums.bubble.add(line.bubble, ranks);
  for (std::size_t cause = 0; cause < sums.idle.size(); ++cause) {
    sums.idle[cause].add(line.idle_by_cause[cause], ranks);
  }
  for (const sim::GroupUse& use : line.communication) add_group(sums.groups, use, ranks);
  sums.busy_compute.add(line.busy_compute, ranks);
  sums.busy_communication.add(line.busy_communication, ranks);
  sums.overlapped.add(line.overlapped, ranks);
}

sim::TimeLine mean_of(const Sums& sums, std::int64_t ranks, Time step_time) {
  sim::TimeLine mean;
  mean.bubble = sums.bubble.mean(ranks);
  for (std::size_t cause = 0; cause < sums.idle.size(); ++cause) {
    mean.idle_by_cause[cause] = sums.idle[cause].mean(ranks);
    mean.idle += mean.idle_by_cause[cause];
  }
  for (const GroupSum& group : sums.groups) {
    mean.communication.push_back({group.group, group.op,
                                  static_cast<std::int64_t>(group.count / ranks),
                                  Bytes(static_cast<std::int64_t>(group.bytes / ranks)),
                                  group.busy.mean(ranks), group.exposed.mean(ranks)});
    mean.exposed += mean.communication.back().exposed;
  }
  mean.compute = step_time - mean.bubble - mean.exposed - mean.idle;
  mean.busy_compute = sums.busy_compute.mean(ranks);
  mean.busy_communication = sums.busy_communication.mean(ranks);
  mean.overlapped = sums.overlapped.mean(ranks);
  return mean;
}

}  // namespace

MeanTimeLine mean_time_line(const sim::Job& job, const sim::Execution& execution) {
  Sums sums;
  const std::vector<RankClass> classes = classes_of(job, execution);
  for (const RankClass& members : classes) {
    add(sums, sim::time_line(job, execution, members.representative), members.ranks);
  }
  const auto ranks = static_cast<std::int64_t>(job.ranks.size());
  return {mean_of(sums, ranks, execution.step_time), static_cast<std::int64_t>(classes.size())};
}

}  // namespace stepsim::scenarios
