#pragma once

/// A strict reader of comma-separated measurements: a header line, then rows with as many fields.
/// Fields may be quoted. Problems name file, line and column; nothing is guessed or skipped.

#include "sim/base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepsim::calibrate {

class CsvTable {
 public:
  struct Row {
    int line = 0;
    std::vector<std::string> fields;
  };

  /// Throws InputError: unreadable file, empty header, repeated column names, a row of another
  /// length, an unclosed quote.
  static CsvTable read(const std::string& file);
  static CsvTable parse(std::string_view text, const std::string& name);

  const std::vector<Row>& rows() const { return rows_; }
  /// Index of a column. Throws InputError naming the nearest column when there is none.
  std::size_t column(const std::string& name) const;

  const std::string& text(const Row& row, std::size_t column) const { return row.fields[column]; }
  /// A whole number of at least `least`. Throws InputError.
  std::int64_t integer(const Row& row, std::size_t column, std::int64_t least) const;
  /// A finite number above zero. Throws InputError.
  double positive(const Row& row, std::size_t column) const;
  /// Throws InputError for a field that cannot be what is expected.
  [[noreturn]] void refuse(const Row& row, std::size_t column, const std::string& expected) const;

 private:
  std::string file_;
  std::vector<std::string> header_;
  std::vector<Row> rows_;
};

}  // namespace stepsim::calibrate
