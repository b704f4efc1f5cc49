#include "scenarios/overrides.hpp"

#include "sim/base/message_text.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace stepsim::scenarios {

namespace {

/// The value that takes a key away, as in a JSON merge patch (RFC 7396).
constexpr const char* removed = "null";

/// One override, taken apart.
struct Override {
  std::vector<std::string> keys;
  std::string value;
  std::shared_ptr<const std::string> place;  // «--set path=value»
};

std::vector<std::string> split_path(const std::string& path) {
  std::vector<std::string> keys;
  std::size_t start = 0;
  while (start <= path.size()) {
    const std::size_t end = std::min(path.find('.', start), path.size());
    keys.push_back(path.substr(start, end - start));
    start = end + 1;
  }
  return keys;
}

void refuse(const Override& override, std::string problem, std::string expected,
            Diagnostics& problems) {
  problems.add({{*override.place, 0, 0}, "", std::move(problem), std::move(expected), ""});
}

bool take_apart(const std::string& text, Override& override, Diagnostics& problems) {
  std::string shown = in_quotes(text);  // one line, and not endless
  shown = shown.substr(1, shown.size() - 2);
  override.place = std::make_shared<const std::string>("--set " + shown);
  const std::size_t equals = text.find('=');
  const std::string expected = "PATH=VALUE, such as cluster.nodes=16";
  if (equals == std::string::npos) {
    refuse(override, "has no value", expected, problems);
    return false;
  }
  override.keys = split_path(text.substr(0, equals));
  override.value = text.substr(equals + 1);
  const bool empty_key = std::any_of(override.keys.begin(), override.keys.end(),
                                     [](const std::string& key) { return key.empty(); });
  if (empty_key) refuse(override, "has an empty key in its path", expected, problems);
  return !empty_key;
}

// The command line has no lines: every node is located by the whole override.
void locate(DocumentNode& node, const std::shared_ptr<const std::string>& place) {
  node.file = place;
  node.line = 0;
  node.column = 0;
  for (DocumentNode& item : node.items) locate(item, place);
  for (DocumentEntry& entry : node.entries) {
    entry.line = 0;
    entry.column = 0;
    locate(entry.value, place);
  }
}

// Nothing when the value is no YAML, after reporting it, or empty.
bool parse_value(const Override& override, DocumentNode& value, Diagnostics& problems) {
  if (override.value.find('\n') != std::string::npos) {
    refuse(override, "has a value of several lines", "one line", problems);
    return false;
  }
  try {
    value = parse_document(override.value, *override.place, DocumentFormat::yaml).root;
  } catch (const InputError& error) {
    for (Diagnostic diagnostic : error.diagnostics()) {
      diagnostic.where.line = 0;
      problems.add(std::move(diagnostic));
    }
    return false;
  }
  locate(value, override.place);
  return true;
}

// The block that holds the last key; nullptr when something on the way is no block.
DocumentNode* find_parent(DocumentNode& root, const Override& override, Diagnostics& problems) {
  DocumentNode* block = &root;
  for (std::size_t i = 0;; ++i) {
    if (!block->is_map()) {
      const std::string whose = i == 0 ? "the file" : override.keys[i - 1];
      refuse(override, whose + " is " + block->describe() + " and has no keys", "a block of keys",
             problems);
      return nullptr;
    }
    if (i + 1 == override.keys.size()) return block;
    DocumentNode* child = block->find(override.keys[i]);
    if (child == nullptr) {
      block->entries.push_back({override.keys[i], 0, 0, {}});
      child = &block->entries.back().value;
      child->kind = NodeKind::map;
      child->file = override.place;
    }
    block = child;
  }
}

// An empty value is more likely a shell variable that was not set than a wish to take a key away.
bool has_value(const Override& override, Diagnostics& problems) {
  if (override.value.find_first_not_of(" \t\r\n") != std::string::npos) return true;
  refuse(override, "has an empty value", "PATH=VALUE, or PATH=null to take the key away", problems);
  return false;
}

void apply(DocumentNode& root, const std::string& text, Diagnostics& problems) {
  Override override;
  if (!take_apart(text, override, problems) || !has_value(override, problems)) return;
  const bool removes = override.value == removed;
  DocumentNode value;
  if (!removes && !parse_value(override, value, problems)) return;
  DocumentNode* parent = find_parent(root, override, problems);
  if (parent == nullptr) return;
  const std::string& key = override.keys.back();
  std::erase_if(parent->entries, [&](const DocumentEntry& entry) { return entry.key == key; });
  if (!removes) parent->entries.push_back({key, 0, 0, std::move(value)});
}

}  // namespace

void apply_overrides(DocumentNode& root, const std::vector<std::string>& overrides,
                     Diagnostics& problems) {
  for (const std::string& override : overrides) apply(root, override, problems);
}

}  // namespace stepsim::scenarios
