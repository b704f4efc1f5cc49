#pragma once

/// One table, printed as aligned text, Markdown or CSV: the common form of every verb's result.

#include <string>
#include <vector>

namespace stepsim::report {

enum class Align { left, right };

/// Names join words with underscores, as JSON keys do («memory_GiB»); text and Markdown show
/// spaces.
struct Column {
  std::string name;
  Align align = Align::left;
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  // as many cells as there are columns

  /// Throws InternalError when the number of cells is wrong.
  void add_row(std::vector<std::string> cells);
};

/// Columns aligned and separated by two spaces, each line indented; no trailing spaces.
std::string to_text(const Table& table, std::size_t indent = 2);

/// A GitHub-flavoured Markdown table; bars and backslashes in cells are escaped.
std::string to_markdown(const Table& table);

/// RFC 4180 with a header line and «\n» line ends. Cells that a spreadsheet would take for a
/// formula (text that begins with = + - @ and is no number) get a leading apostrophe.
std::string to_csv(const Table& table);

}  // namespace stepsim::report
