// The text table of nccl-tests.

#include "calibrate/nccl_tests_table.hpp"

#include "sim/base/message_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <sstream>

namespace stepsim::calibrate {

namespace {

using Tokens = std::vector<std::string>;

Tokens split(const std::string& line) {
  Tokens tokens;
  std::istringstream stream(line);
  for (std::string token; stream >> token;) tokens.push_back(std::move(token));
  return tokens;
}

template <class Number>
std::optional<Number> whole(const std::string& token) {
  Number value{};
  const char* end = token.data() + token.size();
  const auto result = std::from_chars(token.data(), end, value);
  if (result.ec != std::errc{} || result.ptr != end) return {};
  return value;
}

// A count of bytes, which people group by hand: «1_048_576» or «1,048,576».
std::optional<std::int64_t> grouped(std::string token) {
  if (token.empty() || token.front() == '_' || token.front() == ',') return {};
  token.erase(
      std::remove_if(token.begin(), token.end(), [](char c) { return c == '_' || c == ','; }),
      token.end());
  return whole<std::int64_t>(token);
}

bool is_word(const std::string& token) {
  return !token.empty() && std::isalpha(static_cast<unsigned char>(token.front())) != 0;
}

bool is_absent(const std::string& token) {
  return token == "N/A" || token == "n/a" || token == "-" || token == "NA";
}

/// Which of the columns after «root» is what, from the line of column names.
struct Columns {
  bool known = false;
  bool root = false;
  /// For each timing, where its time, algbw and busbw stand.
  std::vector<std::array<std::size_t, 3>> timings;
  std::size_t count = 0;
};

Columns columns_of(const Tokens& names) {
  Columns columns;
  std::size_t start = names.size();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == "root") columns.root = true;
    if (start == names.size() && (names[i] == "time" || names[i] == "cputime")) start = i;
  }
  for (std::size_t i = start; i < names.size(); ++i) {
    if (names[i] == "time" || names[i] == "cputime") {
      columns.timings.push_back({i - start, i - start + 1, i - start + 2});
    }
    if (names[i] != "timestamp") ++columns.count;
  }
  columns.known = !columns.timings.empty();
  return columns;
}

// Without a line of column names: with or without the column of wrong values, one timing or two.
Columns columns_of(std::size_t numbers) {
  Columns columns;
  columns.root = numbers == 9 || numbers == 7 || numbers == 5;
  columns.count = numbers - (columns.root ? 1 : 0);
  switch (columns.count) {
    case 8:
      columns.timings = {{0, 1, 2}, {4, 5, 6}};
      break;
    case 6:
      columns.timings = {{0, 1, 2}, {3, 4, 5}};
      break;
    case 4:
    case 3:
      columns.timings = {{0, 1, 2}};
      break;
    default:
      return {};
  }
  columns.known = true;
  return columns;
}

bool is_header(const Tokens& tokens) {
  const auto has = [&](const char* name) {
    return std::find(tokens.begin(), tokens.end(), name) != tokens.end();
  };
  return has("size") && (has("time") || has("cputime")) && has("algbw") && has("busbw");
}

// «2024-07-18» and «15:41:05», which -S puts at the end of a row.
void drop_timestamp(Tokens& tokens) {
  const auto is_stamp = [](const std::string& token) {
    return std::count(token.begin(), token.end(), ':') == 2 ||
           (std::count(token.begin(), token.end(), '-') == 2 && token.front() != '-');
  };
  while (!tokens.empty() && is_stamp(tokens.back())) tokens.pop_back();
}

class TableReader {
 public:
  TableReader(const std::string& name, Diagnostics& problems) : name_(name), problems_(problems) {}

  void take(const std::string& line, int number) {
    line_ = number;
    const Tokens tokens = split(line[0] == '#' ? line.substr(1) : line);
    if (tokens.empty()) return;
    note_command(tokens);
    if (is_header(tokens)) {
      columns_ = columns_of(tokens);
      raw_.header = line[0] == '#' ? line.substr(1) : line;
    } else if (line[0] == '#') {
      take_comment(tokens);
    } else if (!take_version(tokens) && !take_row(tokens) && !is_units(tokens)) {
      skip(tokens);
    }
  }
  RawNcclTests finish() { return std::move(raw_); }

 private:
  // «all_reduce_perf», in a command line or in «Collective test starting: …».
  void note_command(const Tokens& tokens) {
    for (std::string token : tokens) {
      token = token.substr(token.rfind('/') == std::string::npos ? 0 : token.rfind('/') + 1);
      const std::size_t end = token.find("_perf");
      const bool is_command = end != std::string::npos && end > 0 && is_word(token) &&
                              (end + 5 == token.size() || token.substr(end) == "_perf_mpi");
      if (is_command && raw_.command.empty()) raw_.command = token.substr(0, end + 5);
    }
  }

  void take_comment(const Tokens& tokens) {
    if (tokens[0] == "nccl-tests" && tokens.size() > 2) raw_.version = tokens[2];
    if (tokens[0] == "Rank" && tokens.size() > 3) take_device(tokens);
  }

  // «Rank 0 Group 0 Pid 417 on HOST device 0 [0x0f] NVIDIA A100-SXM4-40GB»
  void take_device(const Tokens& tokens) {
    const std::optional<int> rank = whole<int>(tokens[1]);
    constexpr int most_ranks = 1'000'000;
    if (!rank || *rank < 0 || *rank >= most_ranks) return;
    raw_.ranks.insert(*rank);
    const auto on = std::find(tokens.begin(), tokens.end(), "on");
    const auto device = std::find(tokens.begin(), tokens.end(), "device");
    if (on != tokens.end() && on + 1 < device) raw_.hosts.insert(*(on + 1));
    if (!raw_.device.empty() || tokens.end() - device < 4) return;
    raw_.device = fmt::format("{}", fmt::join(device + 3, tokens.end(), " "));
  }

  // «NCCL version 2.29.3+cuda13.1»
  bool take_version(const Tokens& tokens) {
    for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
      if (tokens[i] != "NCCL" || tokens[i + 1] != "version") continue;
      raw_.nccl_version = tokens[i + 2].substr(0, tokens[i + 2].find('+'));
      return true;
    }
    return false;
  }

  static bool is_units(const Tokens& tokens) { return tokens[0] == "(B)"; }

  // False when the line is no row of the table.
  bool take_row(Tokens tokens) {
    const std::optional<std::int64_t> bytes = grouped(tokens[0]);
    if (!bytes) return false;
    drop_timestamp(tokens);
    RawNcclTestsRow row;
    std::size_t next = 1;
    if (tokens.size() > 2 && nccl_tests_type_bytes(tokens[2]) > 0) {
      row.count = grouped(tokens[1]).value_or(-1);
      row.type = tokens[2];
      next = 3;
    }
    if (next < tokens.size() && is_word(tokens[next]) && !is_absent(tokens[next]) &&
        tokens[next] != "nan" && tokens[next] != "inf") {
      row.redop = tokens[next++];
    }
    const Tokens numbers(tokens.begin() + static_cast<std::ptrdiff_t>(next), tokens.end());
    const Columns columns = columns_for(numbers.size());
    if (!columns.known) return refuse_if_row(row, numbers.size());
    return take_numbers(row, *bytes, numbers, columns);
  }

  Columns columns_for(std::size_t numbers) const {
    if (!columns_.known) return columns_of(numbers);
    const std::size_t expected = columns_.count + (columns_.root ? 1 : 0);
    return numbers == expected ? columns_ : Columns{};
  }

  // A row that names its type is one: a wrong number of columns means that it is damaged.
  bool refuse_if_row(const RawNcclTestsRow& row, std::size_t numbers) {
    if (row.type.empty()) return false;
    const std::size_t expected = columns_.count + (columns_.root ? 1 : 0);
    problems_.add({{name_, line_},
                   "",
                   fmt::format("has {} numbers after its type", numbers),
                   columns_.known ? fmt::format("{}, as the table's heading says", expected)
                                  : "root, then time, algbw, busbw and #wrong, once or twice",
                   ""});
    return true;
  }

  bool take_numbers(RawNcclTestsRow& row, std::int64_t bytes, const Tokens& numbers,
                    const Columns& columns) {
    const std::size_t first = columns.root ? 1 : 0;
    if (columns.root) row.root = whole<int>(numbers[0]);
    if (columns.root && !row.root) return refuse_number(numbers[0], "root", "a rank, or -1");
    row.row.line = line_;
    if (bytes <= 0 || row.count < 0) {
      if (bytes < 0 || row.count < 0)
        refuse_number(std::to_string(bytes), "size", "a number of bytes");
      return true;  // nothing moved, so nothing was measured
    }
    row.row.bytes = Bytes(bytes);
    for (std::size_t i = 0; i < columns.timings.size() && i < 2; ++i) {
      take_timing(row.row, numbers, first, columns.timings[i], i == 0);
    }
    if (row.row.out_of_place || row.row.in_place) raw_.rows.push_back(row);
    return true;
  }

  void take_timing(NcclTestsRow& row, const Tokens& numbers, std::size_t first,
                   const std::array<std::size_t, 3>& at, bool out_of_place) {
    static constexpr const char* names[] = {"time", "algbw", "busbw"};
    std::array<double, 3> values{};
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::string& token = numbers[first + at[i]];
      if (is_absent(token)) return;  // not every collective works in place
      const std::optional<double> value = whole<double>(token);
      if (!value) {
        refuse_number(token, names[i], "a number");
        return;
      }
      values[i] = *value;
    }
    add_nccl_tests_timing({values[0], values[1], values[2]}, {name_, line_}, row.bytes,
                          out_of_place ? row.out_of_place : row.in_place, problems_);
  }

  bool refuse_number(const std::string& token, const char* column, const char* expected) {
    problems_.add({{name_, line_}, column, "is " + in_quotes(token), expected, ""});
    return true;
  }

  void skip(const Tokens& tokens) {
    ++raw_.skipped;
    constexpr std::size_t most_notes = 3;
    const bool numbers = std::all_of(tokens.begin(), tokens.end(), [](const std::string& token) {
      return whole<double>(token).has_value();
    });
    if (numbers && tokens.size() >= 3 && raw_.notes.size() < most_notes) {
      raw_.notes.push_back(fmt::format("line {}: a row without its size was skipped", line_));
    }
  }

  const std::string& name_;
  Diagnostics& problems_;
  int line_ = 0;
  Columns columns_;
  RawNcclTests raw_;
};

}  // namespace

void add_nccl_tests_timing(const NcclTestsTiming& timing, const SourceLocation& where, Bytes bytes,
                           std::optional<NcclTestsTiming>& into, Diagnostics& problems) {
  const auto possible = [](double value) { return std::isfinite(value) && value >= 0; };
  if (!possible(timing.time_us) || timing.time_us == 0) {
    problems.add(
        {where, "time", fmt::format("is {}", timing.time_us), "microseconds, more than none", ""});
    return;
  }
  if (!possible(timing.algorithm_gb_per_s) || !possible(timing.bus_gb_per_s)) {
    problems.add(
        {where, possible(timing.algorithm_gb_per_s) ? "busbw" : "algbw",
         fmt::format("is {}", possible(timing.algorithm_gb_per_s) ? timing.bus_gb_per_s
                                                                  : timing.algorithm_gb_per_s),
         "GB/s, not negative", ""});
    return;
  }
  // Bandwidths have two decimals and times at least three digits, so one percent is ample.
  const double computed = static_cast<double>(bytes.count()) / (1000 * timing.time_us);
  if (std::abs(computed - timing.algorithm_gb_per_s) > 0.01 + 0.01 * computed) {
    problems.add({where, "algbw",
                  fmt::format("is {:.2f}, but {} bytes in {} us are {:.2f} GB/s",
                              timing.algorithm_gb_per_s, bytes.count(), timing.time_us, computed),
                  "size / time", ""});
    return;
  }
  into = timing;
}

RawNcclTests read_nccl_tests_table(std::string_view text, const std::string& name,
                                   Diagnostics& problems) {
  TableReader reader(name, problems);
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string line = bare_nccl_tests_line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty()) reader.take(line, number);
  }
  return reader.finish();
}

}  // namespace stepsim::calibrate
