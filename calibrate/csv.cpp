#include "calibrate/csv.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

namespace stepsim::calibrate {

namespace {

/// Splits one line. Returns false when a quote is not closed.
bool split(std::string_view line, std::vector<std::string>& fields) {
  fields.emplace_back();
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += '"';
      ++i;
    } else if (c == '"' && (quoted || fields.back().empty())) {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return !quoted;
}

template <class Number>
bool parse_whole(const std::string& text, Number& value) {
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  return result.ec == std::errc{} && result.ptr == end;
}

}  // namespace

CsvTable CsvTable::read(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (stream) text << stream.rdbuf();
  if (!stream || !text)
    throw InputError(Diagnostic{{file}, "", "cannot be read", "a table of measurements", ""});
  return parse(text.str(), file);
}

CsvTable CsvTable::parse(std::string_view text, const std::string& name) {
  CsvTable table;
  table.file_ = name;
  const auto fail = [&name](int line, const std::string& problem, const std::string& expected) {
    throw InputError(Diagnostic{{name, line}, "", problem, expected, ""});
  };
  int line_number = 0;
  while (!text.empty()) {
    ++line_number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty()) continue;
    Row row{line_number, {}};
    if (!split(line, row.fields)) fail(line_number, "a quote is not closed", "");
    if (table.header_.empty()) {
      table.header_ = std::move(row.fields);
      const std::set<std::string> names(table.header_.begin(), table.header_.end());
      if (names.size() != table.header_.size())
        fail(line_number, "two columns have the same name", "distinct column names");
      continue;
    }
    if (row.fields.size() != table.header_.size())
      fail(line_number, "has " + std::to_string(row.fields.size()) + " fields",
           std::to_string(table.header_.size()) + ", as the header has");
    table.rows_.push_back(std::move(row));
  }
  if (table.header_.empty()) fail(0, "is empty", "a header line and rows of measurements");
  return table;
}

std::size_t CsvTable::column(const std::string& name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  if (found == header_.end())
    throw InputError(Diagnostic{{file_, 1},
                                "",
                                "there is no column \"" + name + "\"",
                                "a column of that name",
                                nearest_choice(name, header_)});
  return static_cast<std::size_t>(found - header_.begin());
}

void CsvTable::refuse(const Row& row, std::size_t column, const std::string& expected) const {
  throw InputError(Diagnostic{{file_, row.line},
                              header_[column],
                              "cannot use \"" + row.fields[column] + "\"",
                              expected,
                              ""});
}

std::int64_t CsvTable::integer(const Row& row, std::size_t column, std::int64_t least) const {
  std::int64_t value = 0;
  if (!parse_whole(row.fields[column], value) || value < least)
    refuse(row, column, "a whole number of at least " + std::to_string(least));
  return value;
}

double CsvTable::positive(const Row& row, std::size_t column) const {
  double value = 0;
  if (!parse_whole(row.fields[column], value) || !std::isfinite(value) || value <= 0)
    refuse(row, column, "a finite number above zero");
  return value;
}

}  // namespace stepsim::calibrate
