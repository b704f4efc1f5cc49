#pragma once

/// Where output goes and how: standard output, files, and what the terminal can show.

#include "report/table.hpp"
#include "report/terminal_style.hpp"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string>

namespace stepsim::cli {

/// What the terminal at standard output can show: Unicode when the locale is UTF-8, colour when it
/// is a terminal that knows colours and NO_COLOR is not set.
report::Style terminal_style();

/// Writes `text` to standard output and flushes it. Throws InputError when it cannot be written,
/// for instance because the reader of a pipe has gone.
void print(const std::string& text);

/// Writes `text` to a temporary file beside `path` and renames it, so that `path` holds either what
/// it held or all of `text`. A `path` that is no regular file (a device, a pipe) is written
/// directly. Throws InputError when that is impossible.
void write_file(const std::string& path, const std::string& text);

enum class Format { text, markdown, csv, json };

/// A result in every form it can be printed in; only the one asked for is made.
struct Forms {
  std::function<std::string(const report::Style&)> text;
  std::function<report::Table()> table;
  std::function<nlohmann::ordered_json()> json;
  std::function<std::string()> markdown{};  // without one, the table
};

void print(const Forms& forms, Format format);

}  // namespace stepsim::cli
