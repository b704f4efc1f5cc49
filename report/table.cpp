#include "report/table.hpp"

#include "report/text_format.hpp"

#include "sim/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace stepsim::report {

namespace {

std::vector<std::size_t> column_widths(const Table& table) {
  std::vector<std::size_t> widths;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    std::size_t width = display_width(table.columns[column].name);
    for (const auto& row : table.rows) width = std::max(width, display_width(row[column]));
    widths.push_back(width);
  }
  return widths;
}

std::vector<std::string> keys(const Table& table) {
  std::vector<std::string> names;
  for (const Column& column : table.columns) names.push_back(column.name);
  return names;
}

std::vector<std::string> headings(const Table& table) {
  std::vector<std::string> names = keys(table);
  for (std::string& name : names) std::replace(name.begin(), name.end(), '_', ' ');
  return names;
}

std::string padded(const std::string& cell, std::size_t width, Align align) {
  return align == Align::left ? pad_right(cell, width) : pad_left(cell, width);
}

void trim_right(std::string& line) {
  while (!line.empty() && line.back() == ' ') line.pop_back();
}

bool is_number(const std::string& cell) {
  char* end = nullptr;
  std::strtod(cell.c_str(), &end);
  return !cell.empty() && end == cell.c_str() + cell.size();
}

std::string csv_cell(const std::string& cell) {
  std::string text = cell;
  const bool formula =
      !text.empty() && std::string("=+-@").find(text[0]) != std::string::npos && !is_number(text);
  if (formula) text.insert(0, 1, '\'');
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char character : text) {
    if (character == '"') quoted += '"';
    quoted += character;
  }
  return quoted + '"';
}

}  // namespace

void Table::add_row(std::vector<std::string> cells) {
  if (cells.size() != columns.size()) {
    throw InternalError(
        fmt::format("a row of {} cells in a table of {}", cells.size(), columns.size()));
  }
  for (std::string& cell : cells) cell = inert(cell);
  rows.push_back(std::move(cells));
}

std::string to_text(const Table& table, std::size_t indent) {
  const std::vector<std::size_t> widths = column_widths(table);
  std::string text;
  const auto add_line = [&](const std::vector<std::string>& cells) {
    std::string line(indent, ' ');
    for (std::size_t column = 0; column < cells.size(); ++column) {
      if (column > 0) line += "  ";
      line += padded(cells[column], widths[column], table.columns[column].align);
    }
    trim_right(line);
    text += line + '\n';
  };
  add_line(headings(table));
  for (const auto& row : table.rows) add_line(row);
  return text;
}

std::string to_markdown(const Table& table) {
  std::string text;
  const auto add_line = [&](const std::vector<std::string>& cells) {
    text += '|';
    for (const std::string& cell : cells) text += ' ' + markdown_text(cell) + " |";
    text += '\n';
  };
  add_line(headings(table));
  text += '|';
  for (const Column& column : table.columns) {
    text += column.align == Align::right ? " --: |" : " :-- |";
  }
  text += '\n';
  for (const auto& row : table.rows) add_line(row);
  return text;
}

std::string to_csv(const Table& table) {
  std::string text;
  const auto add_line = [&](const std::vector<std::string>& cells) {
    for (std::size_t column = 0; column < cells.size(); ++column) {
      if (column > 0) text += ',';
      text += csv_cell(cells[column]);
    }
    text += '\n';
  };
  add_line(keys(table));
  for (const auto& row : table.rows) add_line(row);
  return text;
}

}  // namespace stepsim::report
