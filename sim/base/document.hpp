#pragma once

/// One strict reader for YAML and JSON. Both become the same tree of nodes that know their file,
/// line and column, so that everything above reports errors the same way. Values stay text until
/// somebody asks for a type (sim/base/object_reader.hpp): nothing is guessed from how a value
/// looks.
///
/// Refused, with the place: duplicate keys, merge keys (<<), tags, keys that are not text, aliases
/// that contain themselves or expand too far, nesting that is too deep, several documents in a
/// file, empty files, binary files, invalid UTF-8, control characters, files that are too large.

#include "sim/base/diagnostics.hpp"
#include "sim/base/error.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace stepsim {

enum class DocumentFormat { yaml, json };

/// Limits that keep a hostile file from taking the machine's memory or time.
struct DocumentOptions {
  std::size_t largest_file_bytes = 8'000'000;
  int deepest_nesting = 64;
  std::size_t most_nodes = 1'000'000;      // values in all, expanded aliases included
  std::size_t most_alias_nodes = 100'000;  // values that come from expanding aliases
  bool json_comments = false;              // // and /* */ comments and trailing commas in JSON
};

enum class NodeKind { null, scalar, list, map };

struct DocumentEntry;

/// A value of a document. Lines and columns count from 1, columns in characters.
struct DocumentNode {
  NodeKind kind = NodeKind::null;
  bool quoted = false;              // scalar: a JSON string, or a YAML scalar in quotes or a block
  std::string text;                 // scalar: its content
  std::vector<DocumentNode> items;  // list
  std::vector<DocumentEntry> entries;  // map, in file order; keys are unique
  std::shared_ptr<const std::string> file;
  int line = 0;
  int column = 0;

  SourceLocation where() const;
  bool is_map() const { return kind == NodeKind::map; }
  bool is_list() const { return kind == NodeKind::list; }
  bool is_scalar() const { return kind == NodeKind::scalar; }
  bool is_null() const { return kind == NodeKind::null; }
  /// The value of a key of a map; nullptr when there is none (or this is no map).
  const DocumentNode* find(std::string_view key) const;
  DocumentNode* find(std::string_view key);
  const DocumentEntry* find_entry(std::string_view key) const;
  /// «the number 8», «the text "abc"», «a list», «a block of keys», «nothing»: for messages.
  std::string describe() const;
};

struct DocumentEntry {
  std::string key;
  int line = 0;  // of the key
  int column = 0;
  DocumentNode value;

  /// The place of the key.
  SourceLocation where() const;
};

struct Document {
  DocumentNode root;
  std::string file;
  std::string hash;  // of the file's bytes (sim/base/file_hash.hpp)
};

/// Reads a file: JSON when its name ends in .json, YAML otherwise. Throws InputError when there is
/// no tree to speak of; problems that leave one (duplicate keys, merge keys, tags) go to
/// `problems`, so that they are reported together with what the reader of the tree finds.
Document read_document(const std::string& file, Diagnostics& problems,
                       const DocumentOptions& options = {});
/// The same, throwing for every problem.
Document read_document(const std::string& file, const DocumentOptions& options = {});
/// The same of text at hand; `name` stands for the file in messages.
Document parse_document(std::string_view text, const std::string& name, DocumentFormat format,
                        Diagnostics& problems, const DocumentOptions& options = {});
Document parse_document(std::string_view text, const std::string& name, DocumentFormat format,
                        const DocumentOptions& options = {});

/// The bytes of a regular file. Throws InputError when it is missing, a directory, unreadable or
/// larger than the limit.
std::string read_file(const std::string& file, std::size_t largest_file_bytes);

}  // namespace stepsim
