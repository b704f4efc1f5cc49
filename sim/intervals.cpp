#include "sim/intervals.hpp"

#include <algorithm>

namespace stepsim::sim {

IntervalSet unite(std::vector<Interval> intervals) {
  const auto earlier = [](const Interval& a, const Interval& b) { return a.begin < b.begin; };
  if (!std::is_sorted(intervals.begin(), intervals.end(), earlier)) {
    std::sort(intervals.begin(), intervals.end(), earlier);
  }
  IntervalSet united;
  for (const Interval& next : intervals) {
    if (next.begin >= next.end) continue;
    if (!united.empty() && next.begin <= united.back().end) {
      united.back().end = std::max(united.back().end, next.end);
    } else {
      united.push_back(next);
    }
  }
  return united;
}

IntervalSet intersect(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet both;
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() && j != b.end()) {
    const Interval common{std::max(i->begin, j->begin), std::min(i->end, j->end)};
    if (common.begin < common.end) both.push_back(common);
    ++(i->end < j->end ? i : j);
  }
  return both;
}

IntervalSet complement(const IntervalSet& set, Interval whole) {
  IntervalSet gaps;
  Time reached = whole.begin;
  for (const Interval& taken : set) {
    if (taken.begin >= whole.end) break;
    if (taken.begin > reached) gaps.push_back({reached, taken.begin});
    reached = std::max(reached, taken.end);
  }
  if (reached < whole.end) gaps.push_back({reached, whole.end});
  return gaps;
}

Time length(const IntervalSet& set) {
  Time sum;
  for (const Interval& interval : set) sum += interval.end - interval.begin;
  return sum;
}

}  // namespace stepsim::sim
