#pragma once

/// Quantities the simulator computes with. Time and bytes are integers, so that results are equal
/// to the bit on every machine; rates and operation counts are doubles in SI units. Giga is 10^9;
/// the binary prefixes are spelled KiB, MiB, GiB.

#include <compare>
#include <cstdint>

namespace stepsim {

/// A point on or a length of simulated time: a signed 64-bit count of picoseconds (range 106 days).
/// Arithmetic that leaves the range throws RangeError instead of wrapping.
class Time {
 public:
  constexpr Time() = default;
  static constexpr Time picoseconds(std::int64_t count) { return Time(count); }
  static constexpr Time nanoseconds(std::int64_t count) { return scaled(count, 1'000); }
  static constexpr Time microseconds(std::int64_t count) { return scaled(count, 1'000'000); }
  static constexpr Time milliseconds(std::int64_t count) { return scaled(count, 1'000'000'000); }
  /// Rounds up to a whole picosecond. Throws RangeError when negative, not finite or out of range.
  static Time from_seconds(double seconds);
  static constexpr Time zero() { return Time(0); }
  static constexpr Time max() { return Time(INT64_MAX); }

  constexpr std::int64_t count_ps() const { return ps_; }
  constexpr double seconds() const { return static_cast<double>(ps_) * 1e-12; }
  constexpr double microseconds() const { return static_cast<double>(ps_) * 1e-6; }

  friend constexpr auto operator<=>(Time, Time) = default;
  friend constexpr Time operator+(Time a, Time b) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a.ps_, b.ps_, &sum)) throw_out_of_range();
    return Time(sum);
  }
  friend constexpr Time operator-(Time a, Time b) {
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(a.ps_, b.ps_, &difference)) throw_out_of_range();
    return Time(difference);
  }
  friend constexpr Time operator*(Time a, std::int64_t factor) { return scaled(a.ps_, factor); }
  constexpr Time& operator+=(Time other) { return *this = *this + other; }
  constexpr Time& operator-=(Time other) { return *this = *this - other; }

 private:
  explicit constexpr Time(std::int64_t ps) : ps_(ps) {}
  static constexpr Time scaled(std::int64_t count, std::int64_t factor) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(count, factor, &product)) throw_out_of_range();
    return Time(product);
  }
  [[noreturn]] static void throw_out_of_range();

  std::int64_t ps_ = 0;
};

/// A whole number of bytes. Arithmetic that leaves the 64-bit range throws RangeError.
class Bytes {
 public:
  constexpr Bytes() = default;
  explicit constexpr Bytes(std::int64_t count) : count_(count) {}
  constexpr std::int64_t count() const { return count_; }
  constexpr double gib() const { return static_cast<double>(count_) / 1073741824.0; }

  friend constexpr auto operator<=>(Bytes, Bytes) = default;
  friend constexpr Bytes operator+(Bytes a, Bytes b) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a.count_, b.count_, &sum)) throw_out_of_range();
    return Bytes(sum);
  }
  friend constexpr Bytes operator-(Bytes a, Bytes b) {
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(a.count_, b.count_, &difference)) throw_out_of_range();
    return Bytes(difference);
  }
  friend constexpr Bytes operator*(Bytes a, std::int64_t factor) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a.count_, factor, &product)) throw_out_of_range();
    return Bytes(product);
  }
  constexpr Bytes& operator+=(Bytes other) { return *this = *this + other; }
  constexpr Bytes& operator-=(Bytes other) { return *this = *this - other; }

 private:
  [[noreturn]] static void throw_out_of_range();
  std::int64_t count_ = 0;
};

/// Bytes a second in one direction of a link, or of a memory. Positive and finite when made by a
/// reader.
class Bandwidth {
 public:
  constexpr Bandwidth() = default;
  static constexpr Bandwidth bytes_per_second(double rate) { return Bandwidth(rate); }
  static constexpr Bandwidth gigabytes_per_second(double rate) { return Bandwidth(rate * 1e9); }
  static constexpr Bandwidth bits_per_second(double rate) { return Bandwidth(rate / 8); }
  constexpr double bytes_per_second() const { return bytes_per_second_; }
  constexpr double gigabytes_per_second() const { return bytes_per_second_ * 1e-9; }
  friend constexpr auto operator<=>(Bandwidth, Bandwidth) = default;

 private:
  explicit constexpr Bandwidth(double rate) : bytes_per_second_(rate) {}
  double bytes_per_second_ = 0;
};

/// Floating-point operations a second.
class FlopRate {
 public:
  constexpr FlopRate() = default;
  static constexpr FlopRate flops_per_second(double rate) { return FlopRate(rate); }
  static constexpr FlopRate teraflops(double rate) { return FlopRate(rate * 1e12); }
  constexpr double flops_per_second() const { return flops_per_second_; }
  friend constexpr auto operator<=>(FlopRate, FlopRate) = default;

 private:
  explicit constexpr FlopRate(double rate) : flops_per_second_(rate) {}
  double flops_per_second_ = 0;
};

/// Time to move `amount` at `rate`, rounded up to a whole picosecond: an exact integer division
/// with the rate taken in whole bytes a second. Throws RangeError when the rate is below one byte a
/// second or the result does not fit.
Time transfer_time(Bytes amount, Bandwidth rate);

/// Time to compute `flops` at `rate`, rounded up. Throws RangeError as transfer_time does.
Time compute_time(double flops, FlopRate rate);

}  // namespace stepsim
