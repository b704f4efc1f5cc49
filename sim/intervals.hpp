#pragma once

/// Sets of instants, as sorted disjoint half-open intervals [begin, end) of positive length. Exact
/// unions, so that time in which several things happen at once is counted once.

#include "sim/base/units.hpp"

#include <vector>

namespace stepsim::sim {

struct Interval {
  Time begin;
  Time end;
  friend bool operator==(Interval, Interval) = default;
};

using IntervalSet = std::vector<Interval>;

/// The union of intervals in any order; empty ones are dropped.
IntervalSet unite(std::vector<Interval> intervals);
/// The instants in both sets.
IntervalSet intersect(const IntervalSet& a, const IntervalSet& b);
/// The instants of `whole` that are not in the set.
IntervalSet complement(const IntervalSet& set, Interval whole);
Time length(const IntervalSet& set);

}  // namespace stepsim::sim
