#include "sim/base/parse_quantity.hpp"

#include "tests/support/catch.hpp"

#include <regex>
#include <string>
#include <vector>

using namespace stepsim;

TEST_CASE("times are read exactly, rounded up to a picosecond") {
  REQUIRE(parse_time("1 ps").value == Time::picoseconds(1));
  REQUIRE(parse_time("250us").value == Time::microseconds(250));
  REQUIRE(parse_time("1.1 us").value ==
          Time::picoseconds(1'100'000));  // 1.1 * 1e6 in doubles is more
  REQUIRE(parse_time("3.9 s").value == Time::picoseconds(3'900'000'000'000));
  REQUIRE(parse_time("1e-3 s").value == Time::milliseconds(1));
  REQUIRE(parse_time("0.1 ps").value == Time::picoseconds(1));
  REQUIRE(parse_time("2 min").value == Time::milliseconds(120'000));
  REQUIRE(parse_time("1 d").value == Time::milliseconds(86'400'000));
  REQUIRE(parse_time("0 s").value == Time::zero());
}

TEST_CASE("bytes tell decimal from binary prefixes") {
  REQUIRE(parse_bytes("80 GB").value == Bytes(80'000'000'000));
  REQUIRE(parse_bytes("80 GiB").value == Bytes(85'899'345'920));
  REQUIRE(parse_bytes("79.15 GiB").value == Bytes(84'986'665'370));  // 84986665369.6
  REQUIRE(parse_bytes("1 kB").value == Bytes(1000));
  REQUIRE(parse_bytes("1KiB").value == Bytes(1024));
  REQUIRE(parse_bytes("9007199254740993 B").value == Bytes(9'007'199'254'740'993));
}

TEST_CASE("rates tell bits from bytes") {
  REQUIRE(parse_bandwidth("400 Gb/s").value == Bandwidth::bytes_per_second(50e9));
  REQUIRE(parse_bandwidth("400 Gbps").value == Bandwidth::bytes_per_second(50e9));
  REQUIRE(parse_bandwidth("50 GB/s").value == Bandwidth::bytes_per_second(50e9));
  REQUIRE(parse_bandwidth("3.35 TB/s").value == Bandwidth::bytes_per_second(3.35e12));
  REQUIRE(parse_bandwidth("1 GiB/s").value == Bandwidth::bytes_per_second(1073741824));
  REQUIRE(parse_flop_rate("989 TFLOP/s").value == FlopRate::teraflops(989));
  REQUIRE(parse_power("10.2 kW").value == 10200.0);
  REQUIRE(parse_frequency("1980 MHz").value == 1.98e9);
}

TEST_CASE("what is no quantity is refused with what was likely meant") {
  struct Row {
    ParsedQuantity<Bandwidth> read;
    const char* problem;
    const char* suggestion;
  };
  const std::vector<Row> rows{
      {parse_bandwidth("400"), "\"400\" has no unit", "400 Gb/s"},
      {parse_bandwidth("400 gbps"), "\"400 gbps\" has the unknown unit \"gbps\"", "400 Gb/s"},
      {parse_bandwidth("400 Gbit/s"), "\"400 Gbit/s\" has the unknown unit \"Gbit/s\"", "400 Gb/s"},
      {parse_bandwidth("50 GBps"), "\"50 GBps\" has the unknown unit \"GBps\"", "50 GB/s"},
      {parse_bandwidth("50 GB/sec"), "\"50 GB/sec\" has the unknown unit \"GB/sec\"", "50 GB/s"},
      {parse_bandwidth("-1 GB/s"), "\"-1 GB/s\" is negative", ""},
      {parse_bandwidth("0 GB/s"), "\"0 GB/s\" is too small", ""},
      {parse_bandwidth("1e300 GB/s"), "\"1e300 GB/s\" is beyond any machine", ""},
      {parse_bandwidth("1e999 GB/s"), "\"1e999 GB/s\" is beyond any machine", ""},
      {parse_bandwidth("nan GB/s"), "cannot read \"nan GB/s\"", ""},
      {parse_bandwidth("inf"), "cannot read \"inf\"", ""},
      {parse_bandwidth(""), "cannot read \"\"", ""},
      {parse_bandwidth("fast"), "cannot read \"fast\"", ""},
      {parse_bandwidth("0x10 GB/s"), "cannot read \"0x10 GB/s\"", "16 GB/s"},
      {parse_bandwidth("1,000 GB/s"), "cannot read \"1,000 GB/s\"", "1000 GB/s"},
      {parse_bandwidth("050 GB/s"), "cannot read \"050 GB/s\"", "50 GB/s"},
      {parse_bandwidth("50 GB/s each"), "\"50 GB/s each\" has the unknown unit \"GB/s each\"", ""},
      {parse_bandwidth(" 50 GB/s"), "cannot read \" 50 GB/s\"", "50 GB/s"},
  };
  for (const Row& row : rows) {
    INFO(row.problem);
    CHECK_FALSE(row.read.value);
    CHECK(row.read.problem == row.problem);
    CHECK(row.read.suggestion == row.suggestion);
    CHECK(row.read.expected == "a rate such as 400 Gb/s or 50 GB/s (b is bits, B is bytes)");
  }
}

TEST_CASE("units of other spellings are suggested") {
  REQUIRE(parse_time("5 usec").suggestion == "5 us");
  REQUIRE(parse_time("5 µs").suggestion == "5 us");
  REQUIRE(parse_time("5").suggestion == "5 s");
  REQUIRE(parse_time("5 m").suggestion == "5 min");
  REQUIRE(parse_bytes("80gb").suggestion == "80 GB");
  REQUIRE(parse_bytes("80 Gi").suggestion == "80 GiB");
  REQUIRE(parse_bytes("80").suggestion == "80 GB");
  REQUIRE(parse_flop_rate("989 TFLOPS").suggestion == "989 TFLOP/s");
  REQUIRE(parse_power("700").suggestion == "700 W");
  REQUIRE(parse_frequency("1980 mhz").suggestion == "1980 MHz");
}

TEST_CASE("times and bytes beyond 64 bits are refused, not wrapped") {
  REQUIRE(parse_time("107 d").problem == "\"107 d\" is too large");
  REQUIRE(parse_time("1e99 s").problem == "\"1e99 s\" is too large");
  REQUIRE(parse_time("1e-99 s").value == Time::picoseconds(1));
  REQUIRE(parse_time("1e-99999999999 s").value == Time::picoseconds(1));
  REQUIRE(parse_time("1e99999999999 s").problem == "\"1e99999999999 s\" is too large");
  REQUIRE(parse_time("0e99999999999 s").value == Time::zero());
  REQUIRE(parse_bytes("9223372036854775807 B").value == Bytes(INT64_MAX));
  REQUIRE(parse_bytes("9223372036854775808 B").problem == "\"9223372036854775808 B\" is too large");
  REQUIRE(parse_bytes("99999999999999999999999999 B").problem ==
          "\"99999999999999999999999999 B\" is too large");
  REQUIRE(parse_bytes("1.00000000000000000000000000001 GB").value == Bytes(1'000'000'000));
}

TEST_CASE("numbers are read only in forms that mean the same to everybody") {
  REQUIRE(parse_integer("0").value == 0);
  REQUIRE(parse_integer("-12").value == -12);
  REQUIRE(parse_integer("9223372036854775807").value == INT64_MAX);
  REQUIRE(parse_number("1e-3").value == 0.001);
  REQUIRE(parse_number("-0.5").value == -0.5);
  const std::vector<std::pair<const char*, const char*>> refused{
      {"010", "10"}, {"0x10", "16"},  {"1_000", "1000"}, {"1,000", "1000"}, {"+5", "5"},
      {"8.0", "8"},  {"1e3", "1000"}, {"0o17", "15"},    {"8.5", ""},       {"eight", ""},
      {"nan", ""},   {".inf", ""},    {"", ""},          {"5 ", "5"},       {"0b101", "5"}};
  for (const auto& [text, suggestion] : refused) {
    INFO(text);
    CHECK_FALSE(parse_integer(text).value);
    CHECK(parse_integer(text).suggestion == suggestion);
  }
  REQUIRE(parse_integer("9223372036854775808").problem == "\"9223372036854775808\" is too large");
  for (const char* text :
       {"010", "0x10", "1_000", "+1", ".5", "5.", "nan", ".nan", "inf", "1e", "--1", "1 2"}) {
    INFO(text);
    CHECK_FALSE(parse_number(text).value);
  }
  REQUIRE(parse_number(".5").suggestion == "0.5");
  REQUIRE(parse_number("1e999").problem == "\"1e999\" is out of range");
}

TEST_CASE("formatted quantities read back to the same value") {
  REQUIRE(format_time(Time::picoseconds(3'900'000'000'000)) == "3.9 s");
  REQUIRE(format_time(Time::microseconds(250)) == "250 us");
  REQUIRE(format_time(Time::zero()) == "0 ps");
  REQUIRE(format_bytes(Bytes(80'000'000'000)) == "80 GB");
  REQUIRE(format_bytes(Bytes(85'899'345'920)) == "80 GiB");
  REQUIRE(format_bandwidth(Bandwidth::bytes_per_second(50e9)) == "50 GB/s");
  REQUIRE(format_flop_rate(FlopRate::teraflops(989.5)) == "989.5 TFLOP/s");
  REQUIRE(format_number(0.1) == "0.1");
  std::uint64_t state = 1;
  for (int i = 0; i < 2000; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const auto count = static_cast<std::int64_t>(state >> (1 + state % 60));
    INFO(count);
    REQUIRE(parse_time(format_time(Time::picoseconds(count))).value == Time::picoseconds(count));
    REQUIRE(parse_bytes(format_bytes(Bytes(count))).value == Bytes(count));
    const Bandwidth rate = Bandwidth::bytes_per_second(static_cast<double>(count) / 8 + 1);
    REQUIRE(parse_bandwidth(format_bandwidth(rate)).value == rate);
  }
}

TEST_CASE("the pattern of a quantity takes what its parser takes") {
  const std::regex time(time_pattern());
  const std::regex rate(bandwidth_pattern());
  for (const char* text :
       {"3.9 s", "250us", "1e-3 s", "0 d", "5", "010 s", "-1 s", "5 usec", ".5 s", "1 S"}) {
    INFO(text);
    CHECK(std::regex_match(text, time) == parse_time(text).value.has_value());
  }
  for (const char* text :
       {"400 Gb/s", "400Gbps", "50 GiB/s", "50 GBps", "50 gb/s", "x Gb/s", "5 B/s each"}) {
    INFO(text);
    CHECK(std::regex_match(text, rate) == parse_bandwidth(text).value.has_value());
  }
  CHECK(std::regex_match("80 GiB", std::regex(bytes_pattern())));
  CHECK(std::regex_match("989 TFLOP/s", std::regex(flop_rate_pattern())));
}
