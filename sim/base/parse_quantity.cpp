#include "sim/base/parse_quantity.hpp"

#include "sim/base/decimal.hpp"
#include "sim/base/error.hpp"
#include "sim/base/message_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <vector>

namespace stepsim {

namespace {

/// A unit, and how it may be misspelt (in lower case), for suggestions only.
struct Unit {
  const char* name;
  double scale;  // in the quantity's base unit; whole for times (ps) and bytes
  std::vector<std::string> misspellings;
};

struct UnitTable {
  const char* example;  // «a time such as 250 us»
  const char* default_unit;
  std::vector<Unit> units;
};

const UnitTable& time_units() {
  static const UnitTable table{
      "a time such as 3.9 s or 250 us, with one of ps, ns, us, ms, s, min, h, d",
      "s",
      {{"ps", 1, {"psec"}},
       {"ns", 1e3, {"nsec"}},
       {"us", 1e6, {"usec", "µs", "μs", "microseconds"}},
       {"ms", 1e9, {"msec", "milliseconds"}},
       {"s", 1e12, {"sec", "secs", "second", "seconds"}},
       {"min", 60e12, {"m", "mins", "minute", "minutes"}},
       {"h", 3600e12, {"hr", "hrs", "hour", "hours"}},
       {"d", 86400e12, {"day", "days"}}}};
  return table;
}

const UnitTable& byte_units() {
  static const UnitTable table{"a number of bytes such as 80 GB or 80 GiB",
                               "GB",
                               {{"B", 1, {"byte", "bytes"}},
                                {"kB", 1e3, {"k"}},
                                {"MB", 1e6, {"m"}},
                                {"GB", 1e9, {"g"}},
                                {"TB", 1e12, {"t"}},
                                {"PB", 1e15, {"p"}},
                                {"KiB", 1024.0, {"ki"}},
                                {"MiB", 1048576.0, {"mi"}},
                                {"GiB", 1073741824.0, {"gi"}},
                                {"TiB", 1099511627776.0, {"ti"}},
                                {"PiB", 1125899906842624.0, {"pi"}}}};
  return table;
}

const UnitTable& bandwidth_units() {
  static const UnitTable table{
      "a rate such as 400 Gb/s or 50 GB/s (b is bits, B is bytes)",
      "Gb/s",
      {{"Gb/s", 1e9 / 8, {"gbit/s", "gbits/s", "gbit", "gb", "gbps", "g"}},
       {"Gbps", 1e9 / 8, {}},
       {"Mb/s", 1e6 / 8, {"mbit/s", "mbits/s", "mbit", "mb", "mbps", "m"}},
       {"Mbps", 1e6 / 8, {}},
       {"Tb/s", 1e12 / 8, {"tbit/s", "tbits/s", "tbit", "tb", "tbps", "t"}},
       {"Tbps", 1e12 / 8, {}},
       {"kb/s", 1e3 / 8, {"kbit/s", "kbits/s", "kbps"}},
       {"kbps", 1e3 / 8, {}},
       {"b/s", 1.0 / 8, {"bit/s", "bits/s", "bps"}},
       {"B/s", 1, {"byte/s", "bytes/s"}},
       {"kB/s", 1e3, {}},
       {"MB/s", 1e6, {}},
       {"GB/s", 1e9, {}},
       {"TB/s", 1e12, {}},
       {"KiB/s", 1024.0, {"kib"}},
       {"MiB/s", 1048576.0, {"mib"}},
       {"GiB/s", 1073741824.0, {"gib", "gibps"}},
       {"TiB/s", 1099511627776.0, {"tib", "tibps"}}}};
  return table;
}

const UnitTable& flop_units() {
  static const UnitTable table{"a rate of arithmetic such as 989 TFLOP/s",
                               "TFLOP/s",
                               {{"FLOP/s", 1, {"flops", "flop"}},
                                {"kFLOP/s", 1e3, {"kflops", "kflop"}},
                                {"MFLOP/s", 1e6, {"mflops", "mflop"}},
                                {"GFLOP/s", 1e9, {"gflops", "gflop"}},
                                {"TFLOP/s", 1e12, {"tflops", "tflop", "t", "tf"}},
                                {"PFLOP/s", 1e15, {"pflops", "pflop", "p", "pf"}},
                                {"EFLOP/s", 1e18, {"eflops", "eflop"}}}};
  return table;
}

const UnitTable& power_units() {
  static const UnitTable table{"a power such as 700 W or 10.2 kW",
                               "W",
                               {{"mW", 1e-3, {}},
                                {"W", 1, {"watt", "watts"}},
                                {"kW", 1e3, {"kilowatt"}},
                                {"MW", 1e6, {"megawatt"}}}};
  return table;
}

const UnitTable& frequency_units() {
  static const UnitTable table{
      "a frequency such as 1980 MHz or 1.98 GHz",
      "MHz",
      {{"Hz", 1, {}}, {"kHz", 1e3, {}}, {"MHz", 1e6, {"m"}}, {"GHz", 1e9, {"g"}}}};
  return table;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

const Unit* find_unit(const UnitTable& table, std::string_view name) {
  const auto found = std::find_if(table.units.begin(), table.units.end(),
                                  [&](const Unit& unit) { return name == unit.name; });
  return found == table.units.end() ? nullptr : &*found;
}

// «GB/sec» and «GBps» as «GB/s».
std::string per_second_spelling(std::string_view written) {
  if (written.ends_with("/sec")) return std::string(written.substr(0, written.size() - 2));
  if (written.ends_with("ps")) return std::string(written.substr(0, written.size() - 2)) + "/s";
  return std::string(written);
}

// What keeps the case of b and B first, then any case, then known misspellings, then one edit away.
std::string likely_unit(const UnitTable& table, std::string_view written) {
  const std::string spelling = per_second_spelling(written);
  if (find_unit(table, spelling) != nullptr) return spelling;
  const std::string lower = lower_case(written);
  for (const Unit& unit : table.units) {
    if (lower_case(spelling) == lower_case(unit.name) || lower == lower_case(unit.name) ||
        std::ranges::count(unit.misspellings, lower) > 0) {
      return unit.name;
    }
  }
  std::vector<std::string> names;
  for (const Unit& unit : table.units) names.emplace_back(unit.name);
  return nearest_choice(std::string(written), names);
}

template <class Value>
ParsedQuantity<Value> refused(std::string problem, std::string expected,
                              std::string suggestion = {}) {
  return {std::nullopt, std::move(problem), std::move(expected), std::move(suggestion)};
}

/// The two halves of a quantity, or why there are none.
struct Split {
  std::string_view number;
  const Unit* unit = nullptr;
  std::string problem;
  std::string suggestion;
};

// For «010 GB», «1,000 W»: the same with a plain number, when that makes it a quantity.
std::string with_plain_number(const UnitTable& table, std::string_view text) {
  const std::size_t letters =
      text.find_first_not_of("+-.,_0123456789", text.starts_with("0x") ? 2 : 0);
  if (letters == std::string_view::npos) {
    const std::string number = plain_number_like(text);
    return number.empty() ? number : number + ' ' + table.default_unit;
  }
  const std::string number = plain_number_like(trim(text.substr(0, letters)));
  const std::string_view unit = trim(text.substr(letters));
  const std::string name =
      find_unit(table, unit) != nullptr ? std::string(unit) : likely_unit(table, unit);
  return number.empty() || name.empty() ? std::string{} : number + ' ' + name;
}

// Of the number that `text` begins with; 0 also when it goes on as «1,000» or «0x10» does.
std::size_t whole_number_length(std::string_view text) {
  const std::size_t length = decimal_length(text);
  const std::string_view rest = text.substr(length);
  const bool goes_on = !rest.empty() && std::string_view(",._").find(rest[0]) != rest.npos;
  const bool other_base = length == 1 && text[0] == '0' &&
                          (rest.starts_with('x') || rest.starts_with('X') || rest.starts_with('o'));
  return goes_on || other_base ? 0 : length;
}

Split split(const UnitTable& table, std::string_view text) {
  Split parts;
  const std::size_t length = whole_number_length(text);
  parts.number = text.substr(0, length);
  const std::string_view unit = trim(text.substr(length));
  if (length == 0 || trim(text).size() != text.size()) {
    parts.problem = "cannot read " + in_quotes(text);
    parts.suggestion = with_plain_number(table, trim(text));
  } else if (unit.empty()) {
    parts.problem = in_quotes(text) + " has no unit";
    parts.suggestion = std::string(parts.number) + ' ' + table.default_unit;
  } else if (parts.unit = find_unit(table, unit); parts.unit == nullptr) {
    parts.problem = in_quotes(text) + " has the unknown unit " + in_quotes(unit);
    parts.suggestion = with_plain_number(table, text);
  } else if (text.front() == '-' && to_decimal(parts.number).digits != 0) {
    parts.problem = in_quotes(text) + " is negative";
  }
  return parts;
}

std::optional<double> to_double(std::string_view number) {
  double value = 0;
  const char* end = number.data() + number.size();
  const auto result = std::from_chars(number.data(), end, value);
  if (result.ec != std::errc{} || result.ptr != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

// A whole count of the base unit, computed without a rounding of its own.
ParsedQuantity<std::int64_t> parse_count(const UnitTable& table, std::string_view text,
                                         Rounding rounding, const char* most) {
  const Split parts = split(table, text);
  if (!parts.problem.empty()) {
    return refused<std::int64_t>(parts.problem, table.example, parts.suggestion);
  }
  const auto unit = static_cast<std::uint64_t>(parts.unit->scale);
  const std::optional<std::int64_t> count = scale(to_decimal(parts.number), unit, rounding);
  if (!count) return refused<std::int64_t>(in_quotes(text) + " is too large", most);
  return {count, {}, {}, {}};
}

// A double in the base unit, between `least` and the largest that is finite.
ParsedQuantity<double> parse_scaled(const UnitTable& table, std::string_view text, double least) {
  const Split parts = split(table, text);
  if (!parts.problem.empty()) {
    return refused<double>(parts.problem, table.example, parts.suggestion);
  }
  const std::optional<double> number = to_double(parts.number);
  // Far beyond any machine, and small enough that products of two such rates stay finite.
  constexpr double most = 1e24;
  if (!number || *number * parts.unit->scale > most) {
    return refused<double>(in_quotes(text) + " is beyond any machine", table.example);
  }
  const double value = *number * parts.unit->scale;
  if (value < least) return refused<double>(in_quotes(text) + " is too small", table.example);
  return {value, {}, {}, {}};
}

}  // namespace

ParsedQuantity<Time> parse_time(std::string_view text) {
  ParsedQuantity<std::int64_t> count =
      parse_count(time_units(), text, Rounding::up, "at most 106 days");
  if (!count.value) return refused<Time>(count.problem, count.expected, count.suggestion);
  return {Time::picoseconds(*count.value), {}, {}, {}};
}

ParsedQuantity<Bytes> parse_bytes(std::string_view text, const char* usual_unit) {
  UnitTable units = byte_units();
  units.default_unit = usual_unit;
  ParsedQuantity<std::int64_t> count =
      parse_count(units, text, Rounding::nearest, "at most 9.2e18 bytes");
  if (!count.value) return refused<Bytes>(count.problem, count.expected, count.suggestion);
  return {Bytes(*count.value), {}, {}, {}};
}

ParsedQuantity<Bandwidth> parse_bandwidth(std::string_view text) {
  const ParsedQuantity<double> rate = parse_scaled(bandwidth_units(), text, 1);
  if (!rate.value) return refused<Bandwidth>(rate.problem, rate.expected, rate.suggestion);
  return {Bandwidth::bytes_per_second(*rate.value), {}, {}, {}};
}

ParsedQuantity<FlopRate> parse_flop_rate(std::string_view text) {
  const ParsedQuantity<double> rate = parse_scaled(flop_units(), text, 1);
  if (!rate.value) return refused<FlopRate>(rate.problem, rate.expected, rate.suggestion);
  return {FlopRate::flops_per_second(*rate.value), {}, {}, {}};
}

ParsedQuantity<double> parse_power(std::string_view text) {
  return parse_scaled(power_units(), text, 0);
}

ParsedQuantity<double> parse_frequency(std::string_view text) {
  return parse_scaled(frequency_units(), text, 1);
}

ParsedQuantity<double> parse_number(std::string_view text) {
  const std::string problem = in_quotes(text) + " is not a number";
  if (text.empty() || decimal_length(text) != text.size()) {
    return refused<double>(problem, "a decimal number", plain_number_like(text));
  }
  const std::optional<double> value = to_double(text);
  if (!value) return refused<double>(in_quotes(text) + " is out of range", "a decimal number");
  return {value, {}, {}, {}};
}

ParsedQuantity<std::int64_t> parse_integer(std::string_view text) {
  const std::string problem = in_quotes(text) + " is not a whole number";
  const std::string plain = plain_number_like(text);
  if (decimal_length(text) == text.size() && !text.empty()) {
    std::int64_t value = 0;
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value);
    if (result.ec == std::errc::result_out_of_range) {
      return refused<std::int64_t>(in_quotes(text) + " is too large", "at most 9.2e18");
    }
    if (result.ptr == end) return {value, {}, {}, {}};
  }
  if (plain.empty()) return refused<std::int64_t>(problem, "a whole number");
  const std::optional<double> number = to_double(plain);
  constexpr double exact_below = 9e15;  // whole doubles below it are exact
  const bool whole = number && std::floor(*number) == *number && std::abs(*number) < exact_below;
  return refused<std::int64_t>(problem, "a whole number",
                               whole ? std::to_string(std::llround(*number)) : "");
}

std::string format_number(double value) {
  char buffer[64];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, result.ptr);
}

namespace {

// count / unit as an exact decimal; unit is a power of ten.
std::string decimal_fraction(std::int64_t count, std::int64_t unit) {
  std::string text = std::to_string(count / unit);
  const std::int64_t rest = count % unit;
  if (rest == 0) return text;
  std::string digits = std::to_string(unit + rest).substr(1);
  digits.resize(digits.find_last_not_of('0') + 1);
  return text + '.' + digits;
}

// In the unit that makes the text shortest, of those that read back to exactly the same number.
std::string format_scaled(const UnitTable& table, double value) {
  std::string best;
  for (const Unit& unit : table.units) {
    const std::string text = format_number(value / unit.scale) + ' ' + unit.name;
    if (!best.empty() && text.size() >= best.size()) continue;
    if (unit.scale == 1 || parse_scaled(table, text, 0).value == value) best = text;
  }
  return best;
}

std::string pattern_of(const UnitTable& table) {
  std::string units;
  for (const Unit& unit : table.units) units += (units.empty() ? "" : "|") + std::string(unit.name);
  return "^(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?[ ]*(" + units + ")$";
}

}  // namespace

std::string format_time(Time time) {
  const std::int64_t count = time.count_ps();
  for (const Unit& unit : time_units().units) {
    const auto scale = static_cast<std::int64_t>(unit.scale);
    const bool largest = scale == 1'000'000'000'000;
    if (largest || count < scale * 1000) return decimal_fraction(count, scale) + ' ' + unit.name;
  }
  return std::to_string(count) + " ps";
}

std::string format_bytes(Bytes bytes) {
  std::string best = std::to_string(bytes.count()) + " B";
  for (const Unit& unit : byte_units().units) {
    const auto scale = static_cast<std::int64_t>(unit.scale);
    const bool binary = std::string_view(unit.name).find('i') != std::string_view::npos;
    if (binary && bytes.count() % scale != 0) continue;
    const std::string text = decimal_fraction(bytes.count(), scale) + ' ' + unit.name;
    if (text.size() < best.size()) best = text;
  }
  return best;
}

std::string format_bandwidth(Bandwidth rate) {
  return format_scaled(bandwidth_units(), rate.bytes_per_second());
}

std::string format_flop_rate(FlopRate rate) {
  return format_scaled(flop_units(), rate.flops_per_second());
}

std::string time_pattern() { return pattern_of(time_units()); }
std::string bytes_pattern() { return pattern_of(byte_units()); }
std::string bandwidth_pattern() { return pattern_of(bandwidth_units()); }
std::string flop_rate_pattern() { return pattern_of(flop_units()); }

}  // namespace stepsim
