#include "sim/base/document_builder.hpp"
#include "sim/base/message_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace stepsim {

namespace {

/// Follows the tokens of JSON text that the parser has accepted so far: nlohmann's events carry no
/// positions, but they come one for one with the tokens.
class TokenScanner {
 public:
  explicit TokenScanner(std::string_view text) : text_(text) {}

  struct Token {
    std::size_t start = 0;
    std::string_view text;
  };
  Token next() {
    const std::size_t start = text_.find_first_not_of(" \t\r\n,:", offset_);
    offset_ = token_end(start);
    return {start, text_.substr(start, offset_ - start)};
  }

 private:
  std::size_t token_end(std::size_t start) const {
    switch (text_[start]) {
      case '{':
      case '}':
      case '[':
      case ']':
        return start + 1;
      case '"':
        return string_end(start);
      default:
        return std::min(text_.find_first_of(" \t\r\n,:]}", start), text_.size());
    }
  }
  std::size_t string_end(std::size_t start) const {
    std::size_t at = start + 1;
    while (text_[at] != '"') at += text_[at] == '\\' ? 2U : 1U;
    return at + 1;
  }

  std::string_view text_;
  std::size_t offset_ = 0;
};

class JsonEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  JsonEvents(std::string_view text, TextPositions& positions, DocumentBuilder& builder)
      : scanner_(text), size_(text.size()), positions_(positions), builder_(builder) {}

  bool null() override {
    builder_.null(positions_.at_byte(scanner_.next().start));
    return true;
  }
  bool boolean(bool /*value*/) override { return plain(); }
  bool number_integer(number_integer_t /*value*/) override { return plain(); }
  bool number_unsigned(number_unsigned_t /*value*/) override { return plain(); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return plain(); }
  bool string(string_t& value) override { return text(value); }
  bool key(string_t& value) override { return text(value); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return begin(NodeKind::map); }
  bool start_array(std::size_t /*size*/) override { return begin(NodeKind::list); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }

  bool parse_error(std::size_t byte, const std::string& /*last_token*/,
                   const nlohmann::detail::exception& error) override {
    const std::size_t offset = byte > 0 ? byte - 1 : 0;
    builder_.fail(positions_.at_byte(std::min(offset, size_)),
                  "is not valid JSON: " + reason(error.what()));
  }

 private:
  // What is left of «[json.exception.parse_error.101] parse error at line 1, column 2: syntax error
  // while parsing value - invalid literal; last read: '…'» when place and echo are taken away.
  static std::string reason(std::string text) {
    text.erase(0, text.find("] ") + 2);
    if (text.starts_with("parse error")) text.erase(0, text.find(": ") + 2);
    return text.substr(0, text.find("; last read"));
  }

  bool plain() {
    const TokenScanner::Token token = scanner_.next();
    builder_.scalar(std::string(token.text), false, positions_.at_byte(token.start));
    return true;
  }
  bool text(string_t& value) {
    builder_.scalar(std::move(value), true, positions_.at_byte(scanner_.next().start));
    return true;
  }
  bool begin(NodeKind kind) {
    builder_.begin(kind, positions_.at_byte(scanner_.next().start));
    return true;
  }
  bool end() {
    scanner_.next();
    builder_.end();
    return true;
  }

  TokenScanner scanner_;
  std::size_t size_;
  TextPositions& positions_;
  DocumentBuilder& builder_;
};

std::size_t after_string(std::string_view text, std::size_t start) {
  std::size_t at = start + 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2U : 1U;
  return std::min(at + 1, text.size());
}

std::size_t after_comment(std::string_view text, std::size_t start) {
  const bool block = text[start + 1] == '*';
  const std::size_t end = text.find(block ? "*/" : "\n", start + 2);
  if (end == std::string_view::npos) return text.size();
  return block ? end + 2 : end;
}

// Comments and trailing commas become spaces, so that every other character keeps its place.
std::string without_extensions(std::string_view text) {
  std::string plain(text);
  std::size_t last_comma = std::string::npos;  // with nothing but spaces and comments after it
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const bool comment =
        c == '/' && at + 1 < text.size() && (text[at + 1] == '/' || text[at + 1] == '*');
    if (comment) {
      const std::size_t end = after_comment(text, at);
      for (; at < end; ++at) plain[at] = text[at] == '\n' ? '\n' : ' ';
      continue;
    }
    if ((c == ']' || c == '}') && last_comma != std::string::npos) plain[last_comma] = ' ';
    if (c == ',') {
      last_comma = at;
    } else if (std::string_view(" \t\r\n").find(c) == std::string_view::npos) {
      last_comma = std::string::npos;
    }
    at = c == '"' ? after_string(text, at) : at + 1;
  }
  return plain;
}

}  // namespace

void parse_json(std::string_view text, TextPositions& positions, const DocumentOptions& options,
                DocumentBuilder& builder) {
  const std::string plain = options.json_comments ? without_extensions(text) : std::string(text);
  JsonEvents events(plain, positions, builder);
  nlohmann::json::sax_parse(plain, &events);
}

}  // namespace stepsim
