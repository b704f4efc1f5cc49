#include "sim/base/document_writer.hpp"

#include "tests/support/catch.hpp"

#include <string>

using namespace stepsim;

namespace {

DocumentNode yaml(const std::string& text) {
  return parse_document(text, "a.yaml", DocumentFormat::yaml).root;
}

bool equal(const DocumentNode& a, const DocumentNode& b) {
  if (a.kind != b.kind || a.text != b.text) return false;
  if (a.items.size() != b.items.size() || a.entries.size() != b.entries.size()) return false;
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    if (!equal(a.items[i], b.items[i])) return false;
  }
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    if (a.entries[i].key != b.entries[i].key) return false;
    if (!equal(a.entries[i].value, b.entries[i].value)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a tree is written as YAML blocks, lists of scalars on one line") {
  DocumentNode cluster = empty_map();
  append(cluster, "nodes", plain_scalar("8"));
  append(cluster, "nic", plain_scalar("400 Gb/s"));
  DocumentNode root = empty_map();
  append(root, "model", quoted_scalar("a \"b\""));
  append(root, "cluster", cluster);
  REQUIRE(write_yaml(root) == "model: \"a \\\"b\\\"\"\ncluster:\n  nodes: 8\n  nic: 400 Gb/s\n");
  REQUIRE(write_yaml(yaml("list: [1, [2, 3], {k: v}]\n")) ==
          "list:\n  - 1\n  - [2, 3]\n  -\n    k: v\n");
}

TEST_CASE("what is written reads back to the same tree") {
  for (const char* text :
       {"a: 1\nb: {c: [], d: {}}\ne: [~, null, 'null', yes, '']\n", "- - - x\n  - y\n- {k: [1]}\n",
        "'a: b': 'c # d'\n\"x\\ny\": \"\\t\\x01é\"\n'': -5\n'-': '- a'\n", "just text\n", "-5\n",
        "a: '1'\nb: '*x'\nc: '&y'\nd: 'trailing '\ne: ' leading'\nf: '{}'\ng: '@at'\n"}) {
    INFO(text);
    const DocumentNode root = yaml(text);
    REQUIRE(equal(root, yaml(write_yaml(root))));
  }
}
