#pragma once

/// Builds the tree of a document from the events of a parser, with the checks that YAML and JSON
/// share. Private to sim/base/document_*.cpp.

#include "sim/base/document.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace stepsim {

/// Turns byte positions of a text into lines and columns that count characters from 1.
class TextPositions {
 public:
  explicit TextPositions(std::string_view text);
  struct Position {
    int line = 0;
    int column = 0;
  };
  Position at_byte(std::size_t offset);
  /// Of a line that counts from 0 and a byte within it.
  Position at_line(std::size_t line, std::size_t byte_in_line);
  std::string_view line_text(std::size_t line) const;

 private:
  std::string_view text_;
  std::vector<std::size_t> line_starts_;
  // Where counting characters last stopped: asking for places in order costs one pass over a line.
  std::size_t counted_line_ = 0;
  std::size_t counted_bytes_ = 0;
  int counted_characters_ = 0;
};

/// Numbers of nodes in the order in which they begin: how aliases name what they stand for.
using NodeNumber = std::size_t;

class DocumentBuilder {
 public:
  using Position = TextPositions::Position;

  DocumentBuilder(std::string name, const DocumentOptions& options, Diagnostics& problems);

  NodeNumber scalar(std::string text, bool quoted, Position at);
  NodeNumber null(Position at);
  /// A value that is not written: it stands where its key does, or at `next`, the next token.
  NodeNumber missing_value(Position next);
  NodeNumber begin(NodeKind kind, Position at);
  void end();
  /// A value that is to become a copy of the node that carries `anchor`.
  void alias(std::size_t anchor, Position at);
  void anchor(std::size_t anchor, NodeNumber node) { anchors_[node] = anchor; }

  bool complete() const { return complete_; }
  /// The finished tree, aliases expanded.
  DocumentNode take();

  [[noreturn]] void fail(Position at, std::string problem, std::string expected = {}) const;
  void report(Position at, std::string problem, std::string expected = {});

 private:
  struct Frame {
    DocumentNode node;
    bool has_key = false;
    DocumentEntry entry;  // the key whose value is awaited
    std::unordered_set<std::string> keys;
  };

  DocumentNode make(NodeKind kind, Position at) const;
  bool awaits_key() const;
  NodeNumber count_node(Position at);
  void take_key(std::string text, Position at);
  void attach(DocumentNode node);

  std::shared_ptr<const std::string> file_;
  DocumentOptions options_;
  Diagnostics& problems_;
  std::vector<Frame> stack_;
  DocumentNode root_;
  bool complete_ = false;
  bool has_refused_keys_ = false;
  NodeNumber next_ = 0;
  std::map<NodeNumber, std::size_t> anchors_;  // node -> the anchor it carries
  std::map<NodeNumber, std::size_t> aliases_;  // node -> the anchor it stands for
};

void parse_yaml(std::string_view text, TextPositions& positions, const DocumentOptions& options,
                DocumentBuilder& builder);
void parse_json(std::string_view text, TextPositions& positions, const DocumentOptions& options,
                DocumentBuilder& builder);

}  // namespace stepsim
