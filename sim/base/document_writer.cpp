#include "sim/base/document_writer.hpp"

#include <algorithm>
#include <utility>

namespace stepsim {

namespace {

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// A careful part of what YAML allows: words, numbers, quantities and paths.
bool can_be_plain(std::string_view text) {
  if (text.empty() || text == "null" || text == "Null" || text == "NULL") return false;
  const bool number_sign = text.front() == '-' && text.size() > 1 && is_word_character(text[1]);
  if (!is_word_character(text.front()) && text.front() != '/' && !number_sign) return false;
  if (text.back() == ' ') return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return is_word_character(c) || std::string_view("./-+ ").find(c) != std::string_view::npos;
  });
}

std::string in_double_quotes(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      out += "\\x";
      out += digits[byte / 16];
      out += digits[byte % 16];
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string scalar_text(const DocumentNode& node) {
  if (node.is_null()) return "null";
  return !node.quoted && can_be_plain(node.text) ? node.text : in_double_quotes(node.text);
}

std::string key_text(const std::string& key) {
  return can_be_plain(key) ? key : in_double_quotes(key);
}

bool is_leaf(const DocumentNode& node) { return node.is_scalar() || node.is_null(); }

// What fits after «key: » or «- » on the same line; empty when the node needs lines of its own.
std::string one_line(const DocumentNode& node) {
  if (is_leaf(node)) return scalar_text(node);
  if (node.is_map()) return node.entries.empty() ? "{}" : "";
  if (!std::all_of(node.items.begin(), node.items.end(), is_leaf)) return "";
  std::string text = "[";
  for (const DocumentNode& item : node.items) {
    text += (text.size() > 1 ? ", " : "") + scalar_text(item);
  }
  return text + ']';
}

void write(const DocumentNode& node, const std::string& indent, std::string& out) {
  const auto write_child = [&](const std::string& lead, const DocumentNode& child) {
    const std::string line = one_line(child);
    out += indent + lead + (line.empty() ? "" : ' ' + line) + '\n';
    if (line.empty()) write(child, indent + "  ", out);
  };
  for (const DocumentEntry& entry : node.entries) {
    write_child(key_text(entry.key) + ':', entry.value);
  }
  for (const DocumentNode& item : node.items) write_child("-", item);
}

DocumentNode scalar(std::string text, bool quoted) {
  DocumentNode node;
  node.kind = NodeKind::scalar;
  node.text = std::move(text);
  node.quoted = quoted;
  return node;
}

}  // namespace

DocumentNode plain_scalar(std::string text) { return scalar(std::move(text), false); }

DocumentNode quoted_scalar(std::string text) { return scalar(std::move(text), true); }

DocumentNode empty_map() {
  DocumentNode node;
  node.kind = NodeKind::map;
  return node;
}

void append(DocumentNode& map, std::string key, DocumentNode value) {
  map.entries.push_back({std::move(key), 0, 0, std::move(value)});
}

std::string write_yaml(const DocumentNode& root) {
  const std::string line = one_line(root);
  if (!line.empty()) return line + '\n';
  std::string out;
  write(root, "", out);
  return out;
}

}  // namespace stepsim
