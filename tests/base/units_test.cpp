#include "sim/base/units.hpp"

#include "sim/base/error.hpp"

#include "tests/support/catch.hpp"

#include <cstdint>
#include <limits>

using stepsim::Bandwidth;
using stepsim::Bytes;
using stepsim::FlopRate;
using stepsim::RangeError;
using stepsim::Time;

TEST_CASE("a transfer takes bytes over rate, rounded up to a whole picosecond") {
  // 1 byte at 3 B/s is a third of a second: 333333333333.3 ps.
  REQUIRE(stepsim::transfer_time(Bytes(1), Bandwidth::bytes_per_second(3)).count_ps() ==
          333'333'333'334);
  REQUIRE(stepsim::transfer_time(Bytes(50), Bandwidth::gigabytes_per_second(50)).count_ps() ==
          1'000);
  REQUIRE(stepsim::transfer_time(Bytes(0), Bandwidth::gigabytes_per_second(50)) == Time::zero());
}

TEST_CASE("a transfer that the clock cannot count is refused, not wrapped") {
  REQUIRE_THROWS_AS(stepsim::transfer_time(Bytes(INT64_MAX), Bandwidth::bytes_per_second(1)),
                    RangeError);
  REQUIRE_THROWS_AS(stepsim::transfer_time(Bytes(1), Bandwidth::bytes_per_second(0)), RangeError);
  REQUIRE_THROWS_AS(stepsim::transfer_time(Bytes(-1), Bandwidth::bytes_per_second(1)), RangeError);
}

TEST_CASE("time arithmetic throws at the end of its range") {
  REQUIRE_THROWS_AS(Time::max() + Time::picoseconds(1), RangeError);
  REQUIRE_THROWS_AS(Time::picoseconds(INT64_MIN) - Time::picoseconds(1), RangeError);
  REQUIRE_THROWS_AS(Time::max() * 2, RangeError);
  REQUIRE_THROWS_AS(Time::from_seconds(std::numeric_limits<double>::quiet_NaN()), RangeError);
  REQUIRE_THROWS_AS(Time::from_seconds(1e8), RangeError);
  REQUIRE_THROWS_AS(Bytes(INT64_MAX) + Bytes(1), RangeError);
}

TEST_CASE("seconds become picoseconds rounded up") {
  REQUIRE(Time::from_seconds(1e-12).count_ps() == 1);
  REQUIRE(Time::from_seconds(0.25).count_ps() == 250'000'000'000);
  REQUIRE(stepsim::compute_time(989e12, FlopRate::teraflops(989)).count_ps() == 1'000'000'000'000);
}
