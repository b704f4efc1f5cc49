#include "sim/base/document.hpp"

#include "sim/base/document_builder.hpp"
#include "sim/base/file_hash.hpp"
#include "sim/base/message_text.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <utility>

namespace stepsim {

namespace {

[[noreturn]] void fail(SourceLocation where, std::string problem, std::string expected = {},
                       std::string suggestion = {}) {
  throw InputError(Diagnostic{std::move(where), "", std::move(problem), std::move(expected),
                              std::move(suggestion)});
}

// The file of the same folder that is spelt most alike.
std::string nearest_file(const std::filesystem::path& file) {
  constexpr std::size_t most_files = 1000;
  std::error_code ignored;
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  std::vector<std::string> names;
  for (auto entry = std::filesystem::directory_iterator(folder, ignored);
       !ignored && entry != std::filesystem::directory_iterator() && names.size() < most_files;
       entry.increment(ignored)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  const std::string name = nearest_choice(file.filename().string(), names);
  return name.empty() ? name : (file.parent_path() / name).string();
}

void check_readable(const std::string& file) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  switch (status.type()) {
    case std::filesystem::file_type::regular:
    case std::filesystem::file_type::fifo:       // «<(…)»
    case std::filesystem::file_type::character:  // «/dev/stdin» of a terminal
      return;
    case std::filesystem::file_type::directory:
      fail({file}, "is a directory", "a file");
    case std::filesystem::file_type::not_found:
      fail({file}, "there is no such file", "", nearest_file(file));
    case std::filesystem::file_type::none:
    case std::filesystem::file_type::unknown:
      fail({file}, "cannot be read: " + error.message());
    default:
      fail({file}, "is neither a file nor a pipe", "a file");
  }
}

// Length of the UTF-8 character at the start of `text`, 0 when there is none (RFC 3629: no overlong
// forms, no surrogates, nothing above U+10FFFF).
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  }
  const unsigned second = byte(1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool surrogate = first == 0xED && second > 0x9F;
  const bool beyond = first == 0xF4 && second > 0x8F;
  return overlong || surrogate || beyond ? 0 : length;
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7F;
}

// yaml-cpp takes the byte 4 for the end of the file and guesses other encodings: text is made sure
// of first.
void check_text(std::string_view text, const std::string& name, TextPositions& positions) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text.substr(at));
    if (length > 0 && !is_control(text[at])) {
      at += length;
      continue;
    }
    const TextPositions::Position place = positions.at_byte(at);
    const SourceLocation where{name, place.line, place.column};
    if (length == 0) fail(where, "is not UTF-8 text", "a text file");
    fail(where, "is the control character " + in_quotes(text.substr(at, 1)), "a text file");
  }
}

// By the name; a pipe has none that tells, but JSON begins as hardly any YAML does.
bool is_json(const std::filesystem::path& file, std::string_view text) {
  if (file.has_extension()) return file.extension() == ".json";
  const std::size_t brace = text.find_first_not_of(" \t\r\n");
  if (brace == std::string_view::npos || text[brace] != '{') return false;
  const std::size_t next = text.find_first_not_of(" \t\r\n", brace + 1);
  return next != std::string_view::npos && text[next] == '"';
}

}  // namespace

SourceLocation DocumentNode::where() const { return {file ? *file : std::string{}, line, column}; }

SourceLocation DocumentEntry::where() const {
  SourceLocation location = value.where();
  location.line = line;
  location.column = column;
  return location;
}

const DocumentEntry* DocumentNode::find_entry(std::string_view key) const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const DocumentEntry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

const DocumentNode* DocumentNode::find(std::string_view key) const {
  const DocumentEntry* entry = find_entry(key);
  return entry == nullptr ? nullptr : &entry->value;
}

DocumentNode* DocumentNode::find(std::string_view key) {
  return const_cast<DocumentNode*>(std::as_const(*this).find(key));
}

std::string DocumentNode::describe() const {
  switch (kind) {
    case NodeKind::null:
      return "empty";
    case NodeKind::list:
      return "a list";
    case NodeKind::map:
      return "a block of keys";
    case NodeKind::scalar:
      break;
  }
  return quoted ? "the text " + in_quotes(text) : in_quotes(text);
}

std::string read_file(const std::string& file, std::size_t largest_file_bytes) {
  check_readable(file);
  std::ifstream stream(file, std::ios::binary);
  if (!stream) fail({file}, "cannot be opened", "a file that may be read");
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  if (!error && size > largest_file_bytes) {
    fail({file, 1, 1}, "is " + std::to_string(size) + " bytes long",
         "at most " + std::to_string(largest_file_bytes) + " bytes");
  }
  try {
    // A pipe or device does not say how long it is, and may have no end.
    std::string bytes;
    std::array<char, 65'536> part{};
    while (stream && bytes.size() <= largest_file_bytes) {
      stream.read(part.data(), part.size());
      bytes.append(part.data(), static_cast<std::size_t>(stream.gcount()));
    }
    if (bytes.size() > largest_file_bytes) {
      fail({file, 1, 1}, "does not end",
           "at most " + std::to_string(largest_file_bytes) + " bytes");
    }
    if (!stream.bad()) return bytes;
  } catch (const std::ios_base::failure&) {
    // libstdc++ reports a failed read of a file buffer by throwing, whatever stream.exceptions()
    // says.
  }
  fail({file}, "cannot be read to its end");
}

Document parse_document(std::string_view text, const std::string& name, DocumentFormat format,
                        Diagnostics& problems, const DocumentOptions& options) {
  Document document{{}, name, content_hash(text)};
  if (text.size() > options.largest_file_bytes) {
    fail({name, 1, 1}, "is " + std::to_string(text.size()) + " bytes long",
         "at most " + std::to_string(options.largest_file_bytes) + " bytes");
  }
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  TextPositions positions(text);
  check_text(text, name, positions);
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) fail({name, 1, 1}, "is empty");
  DocumentBuilder builder(name, options, problems);
  if (format == DocumentFormat::json) {
    parse_json(text, positions, options, builder);
  } else {
    parse_yaml(text, positions, options, builder);
  }
  if (!builder.complete()) fail({name, 1, 1}, "is empty");
  document.root = builder.take();
  return document;
}

Document parse_document(std::string_view text, const std::string& name, DocumentFormat format,
                        const DocumentOptions& options) {
  Diagnostics problems;
  Document document = parse_document(text, name, format, problems, options);
  problems.throw_if_any();
  return document;
}

Document read_document(const std::string& file, Diagnostics& problems,
                       const DocumentOptions& options) {
  const std::string bytes = read_file(file, options.largest_file_bytes);
  return parse_document(bytes, file,
                        is_json(file, bytes) ? DocumentFormat::json : DocumentFormat::yaml,
                        problems, options);
}

Document read_document(const std::string& file, const DocumentOptions& options) {
  Diagnostics problems;
  Document document = read_document(file, problems, options);
  problems.throw_if_any();
  return document;
}

}  // namespace stepsim
