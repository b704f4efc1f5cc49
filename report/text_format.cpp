#include "report/text_format.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

namespace stepsim::report {

namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t length = 0;  // bytes
};

// The code point at the start of `text`, or nothing when the bytes are not valid UTF-8.
std::optional<CodePoint> first_code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return CodePoint{lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  if (length == 0 || lead > 0xf4 || text.size() < length) return std::nullopt;
  std::uint32_t value = lead & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return std::nullopt;
    value = (value << 6U) | (byte(i) & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> smallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < smallest[length] || surrogate || value > 0x10ffff) return std::nullopt;
  return CodePoint{value, length};
}

bool acts_on_terminal(std::uint32_t code_point) {
  const bool control = code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0);
  const bool direction = (code_point >= 0x202a && code_point <= 0x202e) ||
                         (code_point >= 0x2066 && code_point <= 0x2069) || code_point == 0x200e ||
                         code_point == 0x200f;
  const bool line_break = code_point == 0x2028 || code_point == 0x2029;
  return control || direction || line_break || code_point == 0xfeff;
}

std::string scaled(double value, const char* unit) {
  return fmt::format("{} {}", three_digits(value), unit);
}

}  // namespace

std::string inert(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::optional<CodePoint> point = first_code_point(text);
    const std::size_t length = point ? point->length : 1;
    if (!point) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (acts_on_terminal(point->value)) {
      result += point->value < 0x100 ? fmt::format("\\x{:02x}", point->value)
                                     : fmt::format("\\u{:04x}", point->value);
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return result;
}

std::string markdown_text(std::string_view text) {
  std::string escaped;
  for (const char character : text) {
    if (std::string_view("\\`*[]<>|").find(character) != std::string_view::npos) escaped += '\\';
    escaped += character;
  }
  return escaped;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (const char character : text) {
    if ((static_cast<unsigned char>(character) & 0xc0U) != 0x80U) ++width;
  }
  return width;
}

std::string pad_right(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  return std::string(text) + std::string(used < width ? width - used : 0, ' ');
}

std::string pad_left(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  return std::string(used < width ? width - used : 0, ' ') + std::string(text);
}

namespace {

// The start of `text` that takes at most `width` columns.
std::string_view first_columns(std::string_view text, std::size_t width) {
  std::size_t end = text.size();
  std::size_t columns = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool starts = (static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80U;
    if (starts && columns++ == width) {
      end = i;
      break;
    }
  }
  return text.substr(0, end);
}

}  // namespace

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    std::size_t end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    const bool broken = display_width(word) > width;
    if (broken) word = first_columns(word, width);
    if (broken) end = word.size();
    const bool space = end < text.size() && text[end] == ' ';
    text.remove_prefix(end + (space ? 1 : 0));
    if (word.empty()) continue;
    if (!line.empty() && display_width(line) + 1 + display_width(word) > width) {
      lines.push_back(std::move(line));
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  if (!line.empty() || lines.empty()) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> wrap_parts(const std::vector<std::string>& parts,
                                    std::string_view separator, std::size_t width) {
  std::vector<std::string> lines;
  for (const std::string& part : parts) {
    const bool fits =
        !lines.empty() &&
        display_width(lines.back()) + display_width(separator) + display_width(part) <= width;
    if (fits) {
      lines.back() += std::string(separator) + part;
    } else if (display_width(part) <= width) {
      lines.push_back(part);
    } else {
      for (std::string& line : wrap(part, width)) lines.push_back(std::move(line));
    }
  }
  return lines;
}

std::string three_digits(double value) {
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  if (size >= 0.9995) return fmt::format("{:.2f}", value);
  if (size >= 0.09995) return fmt::format("{:.3f}", value);
  return fmt::format("{:.3g}", value);
}

std::string human_time(double seconds) {
  const double size = std::abs(seconds);
  if (size == 0) return "0 s";
  if (size >= 0.9995) return scaled(seconds, "s");
  if (size >= 0.9995e-3) return scaled(seconds * 1e3, "ms");
  if (size >= 0.9995e-6) return scaled(seconds * 1e6, "us");
  return scaled(seconds * 1e9, "ns");
}

std::string human_bytes(Bytes bytes) {
  const double gib = bytes.gib();
  if (bytes.count() == 0) return "0 GiB";
  if (std::abs(gib) >= 0.09995) return scaled(gib, "GiB");
  if (std::abs(gib) * 1024 >= 0.9995) return scaled(gib * 1024, "MiB");
  if (std::abs(gib) * 1024 * 1024 >= 0.9995) return scaled(gib * 1024 * 1024, "KiB");
  return fmt::format("{} B", bytes.count());
}

std::string human_count(double value) {
  const double size = std::abs(value);
  if (size >= 0.9995e12) return scaled(value * 1e-12, "T");
  if (size >= 0.9995e9) return scaled(value * 1e-9, "B");
  if (size >= 0.9995e6) return scaled(value * 1e-6, "M");
  if (size >= 1e4) return scaled(value * 1e-3, "k");
  return three_digits(value);
}

std::string percent(double share) {
  const double value = share * 100;
  if (std::abs(value) >= 99.95) return fmt::format("{:.0f} %", value);
  return fmt::format("{:.1f} %", value);
}

double exact_seconds(Time time) { return static_cast<double>(time.count_ps()) / 1e12; }

}  // namespace stepsim::report
