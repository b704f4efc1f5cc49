// Lines of nccl-tests as they come out of launchers and terminals.

#include "calibrate/nccl_tests_table.hpp"

#include <array>
#include <cctype>

namespace stepsim::calibrate {

namespace {

bool is_digit(char character) { return character >= '0' && character <= '9'; }

bool is_space(char character) { return character == ' ' || character == '\t'; }

// Length of a terminal's escape sequence at the start of `text`; 0 when there is none.
std::size_t escape_length(std::string_view text) {
  if (text.size() < 2 || text[0] != '\x1b' || text[1] != '[') return 0;
  std::size_t end = 2;
  while (end < text.size() && (is_digit(text[end]) || text[end] == ';')) ++end;
  return end < text.size() ? end + 1 : end;
}

// Length of a rank tag such as «[0]» or «[1,0]» at the start of `text`.
std::size_t tag_length(std::string_view text) {
  if (text.size() < 3 || text[0] != '[' || !is_digit(text[1])) return 0;
  std::size_t end = 1;
  while (end < text.size() && (is_digit(text[end]) || text[end] == ',')) ++end;
  return end < text.size() && text[end] == ']' ? end + 1 : 0;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && (is_space(text.back()) || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

// «…<stdout>:» and «…<stderr>:», as mpirun --tag-output and --timestamp-output write them.
void drop_stream_tag(std::string_view& line) {
  constexpr std::size_t longest = 80;
  for (const std::string_view tag : {"<stdout>:", "<stderr>:"}) {
    const std::size_t at = line.substr(0, longest).find(tag);
    if (at != std::string_view::npos) line.remove_prefix(at + tag.size());
  }
}

// «0: » of srun --label.
void drop_task_label(std::string_view& line) {
  std::size_t end = 0;
  while (end < line.size() && is_digit(line[end])) ++end;
  if (end > 0 && end + 1 < line.size() && line[end] == ':' && is_space(line[end + 1])) {
    line.remove_prefix(end + 2);
  }
}

// Whether `text` starts with a date or a time of day written in digits, such as «2024-07-18» or
// «15:41:05.123», and how long it is.
std::size_t date_or_time_length(std::string_view text) {
  std::size_t end = 0;
  int separators = 0;
  while (end < text.size() && !is_space(text[end])) {
    const char character = text[end];
    if (character == '-' || character == ':') ++separators;
    const bool known = is_digit(character) || character == '-' || character == ':' ||
                       character == '.' || character == 'T' || character == 'Z' || character == '+';
    if (!known) return 0;
    ++end;
  }
  return separators >= 2 && is_digit(text[0]) ? end : 0;
}

void drop_time_of_log(std::string_view& line) {
  for (int parts = 0; parts < 2; ++parts) {
    const std::string_view rest = trimmed(line);
    const std::size_t length = rest.empty() ? 0 : date_or_time_length(rest);
    if (length == 0) return;
    line = rest.substr(length);
  }
}

}  // namespace

std::string bare_nccl_tests_line(std::string_view line) {
  drop_stream_tag(line);
  line = trimmed(line);
  drop_time_of_log(line);
  line = trimmed(line);
  drop_task_label(line);
  std::string bare;
  const bool comment = !trimmed(line).empty() && trimmed(line).front() == '#';
  for (std::size_t at = 0; at < line.size();) {
    const std::string_view rest = line.substr(at);
    std::size_t skip = escape_length(rest);
    // Comments keep their brackets: «[0000:0f:00]» is a device.
    if (skip == 0 && (!comment || bare.empty())) skip = tag_length(rest);
    if (skip > 0) {
      bare += ' ';
    } else {
      bare += line[at];
      skip = 1;
    }
    at += skip;
  }
  return std::string(trimmed(bare));
}

int nccl_tests_type_bytes(std::string_view type) {
  struct Type {
    std::string_view name;
    int bytes;
  };
  static constexpr std::array<Type, 17> types = {{{"int8", 1},
                                                  {"uint8", 1},
                                                  {"char", 1},
                                                  {"fp8_e4m3", 1},
                                                  {"fp8_e5m2", 1},
                                                  {"f8e4m3", 1},
                                                  {"f8e5m2", 1},
                                                  {"half", 2},
                                                  {"bfloat16", 2},
                                                  {"bf16", 2},
                                                  {"int32", 4},
                                                  {"int", 4},
                                                  {"uint32", 4},
                                                  {"float", 4},
                                                  {"int64", 8},
                                                  {"uint64", 8},
                                                  {"double", 8}}};
  for (const Type& known : types) {
    if (known.name == type) return known.bytes;
  }
  return 0;
}

}  // namespace stepsim::calibrate
