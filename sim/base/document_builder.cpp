#include "sim/base/document_builder.hpp"

#include "sim/base/message_text.hpp"

#include <algorithm>
#include <utility>

namespace stepsim {

namespace {

// Merge keys and all but the first of equal keys. Aliases count nodes, so that this comes after
// them.
void drop_refused_keys(DocumentNode& node) {
  std::unordered_set<std::string> seen{"<<"};
  std::erase_if(node.entries,
                [&](const DocumentEntry& entry) { return !seen.insert(entry.key).second; });
  for (DocumentNode& item : node.items) drop_refused_keys(item);
  for (DocumentEntry& entry : node.entries) drop_refused_keys(entry.value);
}

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

/// Replaces aliases by copies of what they stand for, walking the tree in the order of its nodes.
class AliasExpansion {
 public:
  AliasExpansion(const std::map<NodeNumber, std::size_t>& anchors,
                 const std::map<NodeNumber, std::size_t>& aliases, const DocumentOptions& options)
      : anchors_(anchors), aliases_(aliases), options_(options) {}

  void expand(DocumentNode& node, int depth) {
    const NodeNumber number = next_++;
    if (const auto alias = aliases_.find(number); alias != aliases_.end()) {
      copy_anchored(node, alias->second, depth);
      return;
    }
    const auto anchor = anchors_.find(number);
    if (anchor != anchors_.end()) originals_[anchor->second] = {&node, true};
    for (DocumentNode& item : node.items) expand(item, depth + 1);
    for (DocumentEntry& entry : node.entries) expand(entry.value, depth + 1);
    if (anchor != anchors_.end()) originals_[anchor->second].open = false;
  }

 private:
  struct Original {
    const DocumentNode* node = nullptr;
    bool open = false;  // still being walked: an alias to it would contain itself
  };

  void copy_anchored(DocumentNode& node, std::size_t anchor, int depth) {
    const Original original = originals_[anchor];
    if (original.node == nullptr) fail(node, "is an alias of something that is not there");
    if (original.open) fail(node, "is an alias of a block that contains it");
    count(*original.node, node, depth);
    node = DocumentNode(*original.node);
  }

  // Counts before copying, so that no copy is made that the limits refuse.
  void count(const DocumentNode& original, const DocumentNode& alias, int depth) {
    if (++copied_ > options_.most_alias_nodes) {
      fail(alias, "is an alias that expands the file to more than " +
                      std::to_string(options_.most_alias_nodes) + " values");
    }
    const bool nests = original.is_list() || original.is_map();
    if (nests && depth > options_.deepest_nesting) {
      fail(alias, "is an alias that nests more than " + std::to_string(options_.deepest_nesting) +
                      " levels deep");
    }
    for (const DocumentNode& item : original.items) count(item, alias, depth + 1);
    for (const DocumentEntry& entry : original.entries) count(entry.value, alias, depth + 1);
  }

  [[noreturn]] static void fail(const DocumentNode& node, std::string problem) {
    throw InputError(Diagnostic{node.where(), "", std::move(problem), "", ""});
  }

  const std::map<NodeNumber, std::size_t>& anchors_;
  const std::map<NodeNumber, std::size_t>& aliases_;
  const DocumentOptions& options_;
  std::map<std::size_t, Original> originals_;
  NodeNumber next_ = 0;
  std::size_t copied_ = 0;
};

}  // namespace

TextPositions::TextPositions(std::string_view text) : text_(text), line_starts_{0} {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') line_starts_.push_back(i + 1);
  }
}

TextPositions::Position TextPositions::at_byte(std::size_t offset) {
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const auto line = static_cast<std::size_t>(next - line_starts_.begin()) - 1;
  return at_line(line, offset - line_starts_[line]);
}

TextPositions::Position TextPositions::at_line(std::size_t line, std::size_t byte_in_line) {
  const std::string_view text = line_text(line);
  if (line != counted_line_ || byte_in_line < counted_bytes_) {
    counted_line_ = line;
    counted_bytes_ = 0;
    counted_characters_ = 0;
  }
  for (; counted_bytes_ < std::min(byte_in_line, text.size()); ++counted_bytes_) {
    if (!continues_character(text[counted_bytes_])) ++counted_characters_;
  }
  return {static_cast<int>(line) + 1, counted_characters_ + 1};
}

std::string_view TextPositions::line_text(std::size_t line) const {
  if (line >= line_starts_.size()) return {};
  const std::size_t start = line_starts_[line];
  const std::size_t end = line + 1 < line_starts_.size() ? line_starts_[line + 1] : text_.size();
  return text_.substr(start, end - start);
}

DocumentBuilder::DocumentBuilder(std::string name, const DocumentOptions& options,
                                 Diagnostics& problems)
    : file_(std::make_shared<const std::string>(std::move(name))),
      options_(options),
      problems_(problems) {}

DocumentNode DocumentBuilder::make(NodeKind kind, Position at) const {
  DocumentNode node;
  node.kind = kind;
  node.file = file_;
  node.line = at.line;
  node.column = at.column;
  return node;
}

bool DocumentBuilder::awaits_key() const {
  return !stack_.empty() && stack_.back().node.is_map() && !stack_.back().has_key;
}

NodeNumber DocumentBuilder::count_node(Position at) {
  if (next_ >= options_.most_nodes) {
    fail(at, "is one value too many", "at most " + std::to_string(options_.most_nodes) + " values");
  }
  return next_++;
}

void DocumentBuilder::take_key(std::string text, Position at) {
  Frame& frame = stack_.back();
  const bool merges = text == "<<";
  const bool repeated = !frame.keys.insert(text).second;
  if (merges) {
    report(at, "is a merge key, which is not supported", "the keys written out");
  } else if (repeated) {
    const auto first = std::find_if(frame.node.entries.begin(), frame.node.entries.end(),
                                    [&](const DocumentEntry& entry) { return entry.key == text; });
    report(at, "the key " + in_quotes(text) + " is there twice",
           "it once; first at line " + std::to_string(first->line));
  }
  has_refused_keys_ = has_refused_keys_ || merges || repeated;
  frame.entry = DocumentEntry{std::move(text), at.line, at.column, {}};
  frame.has_key = true;
}

void DocumentBuilder::attach(DocumentNode node) {
  if (stack_.empty()) {
    root_ = std::move(node);
    complete_ = true;
    return;
  }
  Frame& parent = stack_.back();
  if (parent.node.is_list()) {
    parent.node.items.push_back(std::move(node));
    return;
  }
  parent.entry.value = std::move(node);
  parent.node.entries.push_back(std::move(parent.entry));
  parent.has_key = false;
}

NodeNumber DocumentBuilder::scalar(std::string text, bool quoted, Position at) {
  if (text.find('\0') != std::string::npos) fail(at, "has a NUL character in it");
  if (awaits_key()) {
    take_key(std::move(text), at);
    return 0;
  }
  const NodeNumber number = count_node(at);
  DocumentNode node = make(NodeKind::scalar, at);
  node.text = std::move(text);
  node.quoted = quoted;
  attach(std::move(node));
  return number;
}

NodeNumber DocumentBuilder::null(Position at) {
  if (awaits_key()) fail(at, "is an empty key", "text");
  const NodeNumber number = count_node(at);
  attach(make(NodeKind::null, at));
  return number;
}

NodeNumber DocumentBuilder::missing_value(Position next) {
  const bool has_key = !stack_.empty() && stack_.back().node.is_map() && stack_.back().has_key;
  if (!has_key) return null(next);
  const DocumentEntry& entry = stack_.back().entry;
  return null({entry.line, entry.column});
}

NodeNumber DocumentBuilder::begin(NodeKind kind, Position at) {
  if (awaits_key())
    fail(at, "is a list or a block used as a key, or one that is never closed", "text");
  if (stack_.size() >= static_cast<std::size_t>(options_.deepest_nesting)) {
    fail(at, "is nested too deeply",
         "at most " + std::to_string(options_.deepest_nesting) + " levels");
  }
  const NodeNumber number = count_node(at);
  stack_.emplace_back();
  stack_.back().node = make(kind, at);
  return number;
}

void DocumentBuilder::end() {
  DocumentNode node = std::move(stack_.back().node);
  stack_.pop_back();
  attach(std::move(node));
}

void DocumentBuilder::alias(std::size_t anchor, Position at) {
  if (awaits_key()) fail(at, "is an alias used as a key", "text");
  aliases_[null(at)] = anchor;
}

DocumentNode DocumentBuilder::take() {
  if (!aliases_.empty()) AliasExpansion(anchors_, aliases_, options_).expand(root_, 1);
  if (has_refused_keys_) drop_refused_keys(root_);
  return std::move(root_);
}

void DocumentBuilder::fail(Position at, std::string problem, std::string expected) const {
  throw InputError(
      Diagnostic{{*file_, at.line, at.column}, "", std::move(problem), std::move(expected), ""});
}

void DocumentBuilder::report(Position at, std::string problem, std::string expected) {
  problems_.add({{*file_, at.line, at.column}, "", std::move(problem), std::move(expected), ""});
}

}  // namespace stepsim
