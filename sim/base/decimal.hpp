#pragma once

/// Decimal numbers as written, before they are rounded to anything: what parse_quantity.cpp scales
/// by a unit without an error of its own.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stepsim {

/// ± digits × 10^exponent.
struct Decimal {
  bool negative = false;
  std::uint64_t digits = 0;
  int exponent = 0;
  bool exact = true;  // false: more digits were written than 64 bits hold, and `digits` is cut
};

/// Length of the plain decimal number that `text` begins with: -?(0|[1-9][0-9]*)(.[0-9]+)?(e±N)?.
/// 0 when it does not begin with one.
std::size_t decimal_length(std::string_view text);

/// Takes text that is such a number as a whole.
Decimal to_decimal(std::string_view number);

/// number × unit, a whole number: rounded up, or to the nearest. Nothing when it is beyond 2^63-1.
enum class Rounding { up, nearest };
std::optional<std::int64_t> scale(const Decimal& number, std::uint64_t unit, Rounding rounding);

/// What somebody who wrote `text` may have meant, as a plain decimal number: 010, 0x10, 1_000,
/// 1,000, +1, .5 and 5. are known. Empty when nothing likely is found.
std::string plain_number_like(std::string_view text);

}  // namespace stepsim
