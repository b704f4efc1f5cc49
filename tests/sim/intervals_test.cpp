#include "sim/intervals.hpp"

#include "tests/sim/job_fixture.hpp"
#include "tests/support/catch.hpp"

using namespace stepsim;
using namespace stepsim::sim;
using namespace stepsim::sim::testing;

namespace {

Interval between(std::int64_t begin, std::int64_t end) { return {ps(begin), ps(end)}; }

}  // namespace

TEST_CASE("a union counts every instant once") {
  const IntervalSet set = unite({between(5, 9), between(1, 3), between(3, 4), between(6, 7),
                                 between(8, 12), between(20, 20)});
  CHECK(set == IntervalSet{between(1, 4), between(5, 12)});
  CHECK(length(set) == ps(10));
}

TEST_CASE("intersection and complement") {
  const IntervalSet a{between(1, 4), between(5, 12)};
  const IntervalSet b{between(0, 2), between(3, 6), between(11, 20)};
  CHECK(intersect(a, b) ==
        IntervalSet{between(1, 2), between(3, 4), between(5, 6), between(11, 12)});
  CHECK(complement(a, between(0, 12)) == IntervalSet{between(0, 1), between(4, 5)});
  CHECK(complement(a, between(2, 14)) == IntervalSet{between(4, 5), between(12, 14)});
  CHECK(complement({}, between(2, 14)) == IntervalSet{between(2, 14)});
  CHECK(complement(a, between(0, 1)) == IntervalSet{between(0, 1)});
}
