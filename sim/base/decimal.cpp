#include "sim/base/decimal.hpp"

#include "sim/base/wide_integers.hpp"

#include <algorithm>
#include <charconv>

namespace stepsim {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t digits_length(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && is_digit(text[length])) ++length;
  return length;
}

std::size_t exponent_length(std::string_view text) {
  if (text.empty() || (text[0] != 'e' && text[0] != 'E')) return 0;
  const std::size_t sign = text.size() > 1 && (text[1] == '+' || text[1] == '-') ? 1 : 0;
  const std::size_t digits = digits_length(text.substr(1 + sign));
  return digits == 0 ? 0 : 1 + sign + digits;
}

int exponent_value(std::string_view text) {
  constexpr int beyond_everything = 100'000;
  if (text.empty()) return 0;
  if (text.front() == '+') text.remove_prefix(1);
  int value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc{}) return text.front() == '-' ? -beyond_everything : beyond_everything;
  return std::clamp(value, -beyond_everything, beyond_everything);
}

void append_digit(Decimal& number, char digit) {
  constexpr std::uint64_t room_for_another = (UINT64_MAX - 9) / 10;
  if (number.digits <= room_for_another) {
    number.digits = number.digits * 10 + static_cast<std::uint64_t>(digit - '0');
    return;
  }
  ++number.exponent;
  if (digit != '0') number.exact = false;
}

std::string integer_of_base(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, value, base);
  return result.ec == std::errc{} && result.ptr == end ? std::to_string(value) : std::string{};
}

std::string without_separators(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (c != '_' && c != ',' && c != ' ') plain += c;
  }
  return plain;
}

}  // namespace

std::size_t decimal_length(std::string_view text) {
  std::size_t length = !text.empty() && text[0] == '-' ? 1 : 0;
  const std::size_t whole = digits_length(text.substr(length));
  if (whole == 0 || (whole > 1 && text[length] == '0')) return 0;
  length += whole;
  if (length < text.size() && text[length] == '.') {
    const std::size_t fraction = digits_length(text.substr(length + 1));
    if (fraction == 0) return 0;
    length += 1 + fraction;
  }
  return length + exponent_length(text.substr(length));
}

Decimal to_decimal(std::string_view number) {
  Decimal decimal;
  decimal.negative = number.front() == '-';
  bool in_fraction = false;
  for (std::size_t i = decimal.negative ? 1 : 0; i < number.size(); ++i) {
    if (number[i] == 'e' || number[i] == 'E') {
      decimal.exponent += exponent_value(number.substr(i + 1));
      break;
    }
    if (number[i] == '.') {
      in_fraction = true;
      continue;
    }
    append_digit(decimal, number[i]);
    if (in_fraction) --decimal.exponent;
  }
  return decimal;
}

std::optional<std::int64_t> scale(const Decimal& number, std::uint64_t unit, Rounding rounding) {
  // 2^64 digits × units below 2^57 leave seven bits: enough to multiply by ten while it is below
  // 2^63, and every larger intermediate is out of range anyway.
  auto value = static_cast<WideUnsigned>(number.digits) * unit;
  if (value == 0) return 0;
  for (int power = 0; power < number.exponent; ++power) {
    if (value > static_cast<WideUnsigned>(INT64_MAX)) return std::nullopt;
    value *= 10;
  }
  bool dropped = !number.exact;
  unsigned last_dropped = 0;
  for (int power = 0; power > number.exponent && (value > 0 || last_dropped > 0); --power) {
    dropped = dropped || last_dropped > 0;
    last_dropped = static_cast<unsigned>(value % 10);
    value /= 10;
  }
  const bool round_up = rounding == Rounding::up ? dropped || last_dropped > 0 : last_dropped >= 5;
  if (round_up) ++value;
  if (value > static_cast<WideUnsigned>(INT64_MAX)) return std::nullopt;
  const auto count = static_cast<std::int64_t>(value);
  return number.negative ? -count : count;
}

std::string plain_number_like(std::string_view text) {
  std::string plain = without_separators(text);
  if (plain.size() > 40) return {};
  if (plain.starts_with('+')) plain.erase(0, 1);
  if (plain.starts_with("0x") || plain.starts_with("0X"))
    return integer_of_base(plain.substr(2), 16);
  if (plain.starts_with("0o")) return integer_of_base(plain.substr(2), 8);
  if (plain.starts_with("0b")) return integer_of_base(plain.substr(2), 2);
  const std::size_t sign = plain.starts_with('-') ? 1 : 0;
  while (plain.size() > sign + 1 && plain[sign] == '0' && is_digit(plain[sign + 1])) {
    plain.erase(sign, 1);
  }
  if (plain.substr(sign).starts_with('.')) plain.insert(sign, 1, '0');
  if (plain.ends_with('.')) plain.pop_back();
  return decimal_length(plain) == plain.size() ? plain : std::string{};
}

}  // namespace stepsim
