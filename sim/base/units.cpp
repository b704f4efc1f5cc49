#include "sim/base/units.hpp"

#include "sim/base/error.hpp"
#include "sim/base/wide_integers.hpp"

#include <cmath>

namespace stepsim {

namespace {

constexpr double picoseconds_per_second = 1e12;
// The largest double below 2^63: anything above does not fit a signed 64-bit count.
constexpr double largest_count = 9223372036854774784.0;

}  // namespace

void Time::throw_out_of_range() {
  throw RangeError("a time left the range of the simulator's clock (about 106 days)");
}

void Bytes::throw_out_of_range() { throw RangeError("a number of bytes left the 64-bit range"); }

Time Time::from_seconds(double seconds) {
  const double count = std::ceil(seconds * picoseconds_per_second);
  if (!(count >= 0) || count > largest_count) throw_out_of_range();
  return Time(static_cast<std::int64_t>(count));
}

Time transfer_time(Bytes amount, Bandwidth rate) {
  const double whole_rate = std::floor(rate.bytes_per_second());
  if (amount.count() < 0) throw RangeError("a transfer of a negative number of bytes");
  if (!(whole_rate >= 1) || whole_rate > largest_count) {
    throw RangeError("a bandwidth below one byte a second or beyond the 64-bit range");
  }
  const auto divisor = static_cast<WideUnsigned>(whole_rate);
  const auto scaled = static_cast<WideUnsigned>(amount.count()) * 1'000'000'000'000U;
  const auto count = (scaled + divisor - 1) / divisor;
  if (count > static_cast<WideUnsigned>(INT64_MAX)) {
    throw RangeError("a transfer takes longer than the simulator's clock can count (106 days)");
  }
  return Time::picoseconds(static_cast<std::int64_t>(count));
}

Time compute_time(double flops, FlopRate rate) {
  if (!(flops >= 0) || !(rate.flops_per_second() > 0)) {
    throw RangeError("an operation count or rate that is negative, zero or not a number");
  }
  return Time::from_seconds(flops / rate.flops_per_second());
}

}  // namespace stepsim
