#pragma once

/// Quantities as people write them: a number and a unit, such as «400 Gb/s», «80 GiB» or «250 us».
/// The unit is mandatory, its case matters (b is bits, B is bytes; G is 10^9, Gi is 2^30) and the
/// space before it is optional. Reading does not depend on the locale.

#include "sim/base/units.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace stepsim {

/// What reading a quantity gave: its value, or what is wrong with the text.
template <class Value>
struct ParsedQuantity {
  std::optional<Value> value;
  std::string problem;     // «has no unit»; empty when there is a value
  std::string expected;    // «a rate such as 400 Gb/s or 50 GB/s»
  std::string suggestion;  // the nearest valid spelling; may be empty
};

/// ps ns us ms s min h d. Not negative; at most the range of Time (106 days). Rounded up to a whole
/// picosecond.
ParsedQuantity<Time> parse_time(std::string_view text);
/// B, kB MB GB TB PB, KiB MiB GiB TiB PiB. Not negative, and a whole number of bytes (what is left
/// of a binary fraction such as 79.15 GiB is rounded to the nearest). Who leaves the unit out is
/// offered `usual_unit`.
ParsedQuantity<Bytes> parse_bytes(std::string_view text, const char* usual_unit = "GB");
/// Bits (b/s, kb/s, Mb/s, Gb/s, Tb/s, also bps, kbps, …) or bytes (B/s … TB/s, KiB/s … TiB/s) a
/// second. At least one byte a second.
ParsedQuantity<Bandwidth> parse_bandwidth(std::string_view text);
/// FLOP/s, kFLOP/s … EFLOP/s. Positive.
ParsedQuantity<FlopRate> parse_flop_rate(std::string_view text);
/// mW W kW MW, in watts. Not negative.
ParsedQuantity<double> parse_power(std::string_view text);
/// Hz kHz MHz GHz, in hertz. Positive.
ParsedQuantity<double> parse_frequency(std::string_view text);

/// Plain decimal numbers: digits, one point, an exponent («1e-3»). Refused, because not everybody
/// reads them alike: leading zeros, 0x…, 1_000, 1,000, +1, .5, 5., inf, nan.
ParsedQuantity<double> parse_number(std::string_view text);
/// Whole decimal numbers.
ParsedQuantity<std::int64_t> parse_integer(std::string_view text);

/// A regular expression (ECMA 262) of the texts that the parser of the same name takes, short of
/// their range: for schemas.
std::string time_pattern();
std::string bytes_pattern();
std::string bandwidth_pattern();
std::string flop_rate_pattern();

/// The shortest text that reads back to exactly the same quantity, in the largest unit that keeps
/// the number short: what the effective configuration prints.
std::string format_time(Time time);
std::string format_bytes(Bytes bytes);
std::string format_bandwidth(Bandwidth rate);
std::string format_flop_rate(FlopRate rate);
/// The shortest decimal text that reads back to the same double, the same in every locale.
std::string format_number(double value);

}  // namespace stepsim
