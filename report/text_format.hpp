#pragma once

/// Small pieces of text: quantities for people, names made safe to print, lines wrapped to a width.

#include "sim/base/units.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace stepsim::report {

/// `text` with everything that could act on a terminal or break a line made visible: control
/// characters (escape sequences among them), bidirectional overrides and bytes that are not UTF-8
/// become «\x1b» or «\u202e». For names and values that came from files.
std::string inert(std::string_view text);

/// `text` with everything escaped that Markdown would act on: «<», «|», «*», «`», «[», «\\», ….
std::string markdown_text(std::string_view text);

/// Columns `text` takes on a terminal, one a code point.
std::size_t display_width(std::string_view text);

/// `text` padded with spaces to `width` columns.
std::string pad_right(std::string_view text, std::size_t width);
std::string pad_left(std::string_view text, std::size_t width);

/// `text` broken at spaces into lines of at most `width` columns, and within a word that is longer.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

/// Parts joined by `separator` into lines of at most `width` columns; only a part that is longer is
/// broken.
std::vector<std::string> wrap_parts(const std::vector<std::string>& parts,
                                    std::string_view separator, std::size_t width);

/// `value` with three significant digits and no exponent: «9.61», «48.3», «512», «0.0123».
std::string three_digits(double value);

/// A time in the unit that reads best: «9.61 s», «48.3 ms», «5.2 us», «0 s».
std::string human_time(double seconds);
inline std::string human_time(Time time) { return human_time(time.seconds()); }

/// «61.4 GiB»; below a tenth of a GiB «3.2 MiB» or «0 GiB».
std::string human_bytes(Bytes bytes);

/// A count with a decimal prefix: «70.6 B» for parameters, «54.6 k» for tokens.
std::string human_count(double value);

/// «41.2 %» of a share of one.
std::string percent(double share);

/// Seconds as the double nearest to the whole picoseconds, so that decimal output is short.
double exact_seconds(Time time);

}  // namespace stepsim::report
