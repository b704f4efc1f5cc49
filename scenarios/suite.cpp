#include "scenarios/suite.hpp"

#include "scenarios/overrides.hpp"
#include "scenarios/resolve_scenario.hpp"
#include "scenarios/scenario_blocks.hpp"

#include "sim/base/message_text.hpp"
#include "sim/base/object_reader.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace stepsim::scenarios {

namespace {

/// Longest text of a name: it stands in tables.
constexpr std::size_t longest_name = 80;

/// What a case, or the defaults of all cases, says about itself beside the scenario.
struct CaseHeader {
  std::optional<std::string> id;
  std::optional<Use> use;
  std::optional<std::string> stack;
  std::optional<std::vector<std::string>> assumed;
  std::optional<std::string> excluded;
};

const std::vector<std::string>& header_keys() {
  static const std::vector<std::string> keys = {"id", "use", "stack", "assumed", "excluded"};
  return keys;
}

bool is_header_key(const std::string& key) {
  return std::find(header_keys().begin(), header_keys().end(), key) != header_keys().end();
}

void require_name(ObjectReader& reader, const std::string& key, const std::string& name) {
  if (name.empty()) reader.refuse(key, "is empty", "a name");
  if (name.size() > longest_name) {
    reader.refuse(key, "has " + std::to_string(name.size()) + " characters",
                  "at most " + std::to_string(longest_name));
  }
}

enum class HeaderOf { defaults, single_case };

CaseHeader read_header(const DocumentNode& node, const std::string& path, HeaderOf of,
                       Diagnostics& diagnostics) {
  ObjectReader reader(node, path, diagnostics);
  CaseHeader header;
  if (!node.is_map()) return header;
  if (of == HeaderOf::single_case) {
    std::string id;
    if (reader.required("id", id)) {
      require_name(reader, "id", id);
      header.id = id;
    }
  }
  reader.optional("use", header.use, Choices<Use>{{"fit", Use::fit}, {"check", Use::check}});
  reader.optional("stack", header.stack);
  if (header.stack) require_name(reader, "stack", *header.stack);
  if (reader.has("assumed")) reader.optional("assumed", header.assumed.emplace());
  reader.optional("excluded", header.excluded);
  if (header.excluded == "") reader.refuse("excluded", "is empty", "the reason");
  // Blocks of a scenario are read when the case is: here they only have to be known.
  for (const std::string& key : scenario_block().names()) reader.take(key);
  reader.finish();
  return header;
}

DocumentNode without_header(DocumentNode node) {
  std::erase_if(node.entries, [](const DocumentEntry& entry) { return is_header_key(entry.key); });
  return node;
}

SuiteCase make_case(const CaseHeader& defaults, const DocumentNode& defaults_node,
                    const CaseHeader& own, const DocumentNode& node) {
  SuiteCase made;
  made.id = own.id.value_or("");
  made.use = own.use.value_or(defaults.use.value_or(Use::check));
  made.stack = own.stack.value_or(defaults.stack.value_or(""));
  made.assumed = own.assumed.value_or(defaults.assumed.value_or(std::vector<std::string>{}));
  made.excluded = own.excluded.value_or(defaults.excluded.value_or(""));
  made.document = without_header(merged(defaults_node, node));
  made.where = node.where();
  return made;
}

class SuiteReader {
 public:
  SuiteReader(const std::vector<std::string>& overrides, Diagnostics& diagnostics)
      : overrides_(overrides), diagnostics_(diagnostics) {}

  void read(const DocumentNode& root, Suite& suite) {
    ObjectReader reader(root, "", diagnostics_);
    if (reader.required("suite", suite.name)) require_name(reader, "suite", suite.name);
    reader.optional("source", suite.source);
    DocumentNode defaults_node;
    defaults_node.kind = NodeKind::map;
    CaseHeader defaults;
    if (const DocumentNode* node = reader.take("defaults")) {
      defaults = read_header(*node, "defaults", HeaderOf::defaults, diagnostics_);
      if (node->is_map()) defaults_node = *node;
    }
    if (reader.has("scale_from")) reader.optional("scale_from", suite.scale_from);
    if (const DocumentNode* cases = reader.take_required("cases"))
      read_cases(reader, *cases, defaults, defaults_node, suite);
    check_scale_rows(reader, suite);
    reader.finish();
  }

 private:
  void read_cases(ObjectReader& reader, const DocumentNode& cases, const CaseHeader& defaults,
                  const DocumentNode& defaults_node, Suite& suite) {
    if (!cases.is_list() || cases.items.empty()) {
      reader.refuse("cases", "is " + (cases.is_list() ? "an empty list" : cases.describe()),
                    "a list of cases, each with an id");
      return;
    }
    for (std::size_t i = 0; i < cases.items.size(); ++i) {
      const DocumentNode& node = cases.items[i];
      const std::string path = "cases[" + std::to_string(i) + ']';
      const CaseHeader own = read_header(node, path, HeaderOf::single_case, diagnostics_);
      if (!own.id || !node.is_map()) continue;
      note_id(node, path, *own.id);
      suite.cases.push_back(make_case(defaults, defaults_node, own, node));
      apply_changes(suite.cases.back());
    }
  }

  // A change that cannot be made is reported once, not for every case.
  void apply_changes(SuiteCase& made) {
    if (bad_override_) return;
    const std::size_t before = diagnostics_.count();
    apply_overrides(made.document, overrides_, diagnostics_);
    bad_override_ = diagnostics_.count() > before;
  }

  void note_id(const DocumentNode& node, const std::string& path, const std::string& id) {
    const DocumentNode& value = *node.find("id");
    const auto [known, is_new] = line_of_id_.try_emplace(id, value.line);
    if (is_new) return;
    diagnostics_.add({value.where(), path + ".id", "the id " + in_quotes(id) + " is there twice",
                      "one that no other case has; first at line " + std::to_string(known->second),
                      ""});
  }

  void check_scale_rows(ObjectReader& reader, const Suite& suite) {
    if (suite.scale_from.size() > most_scale_rows) {
      reader.refuse("scale_from", "names " + std::to_string(suite.scale_from.size()) + " cases",
                    "at most " + std::to_string(most_scale_rows));
    }
    std::vector<std::string> ids;
    for (const auto& [id, line] : line_of_id_) ids.push_back(id);
    for (const std::string& id : suite.scale_from) {
      if (line_of_id_.count(id) > 0) continue;
      reader.refuse("scale_from", "there is no case " + in_quotes(id), "ids of cases",
                    nearest_choice(id, ids));
    }
  }

  const std::vector<std::string>& overrides_;
  Diagnostics& diagnostics_;
  std::map<std::string, int> line_of_id_;
  bool bad_override_ = false;
};

void refuse_scenario(const DocumentNode& root) {
  if (root.find("suite") != nullptr || root.find("cases") != nullptr) return;
  for (const std::string& key : scenario_block().names()) {
    const DocumentEntry* entry = root.find_entry(key);
    if (entry == nullptr) continue;
    throw InputError(Diagnostic{entry->where(), key,
                                "this file is a scenario, not a suite of measured runs",
                                "a file with the keys suite and cases (a single measured step: "
                                "stepsim run)",
                                ""});
  }
}

}  // namespace

const char* to_string(Use use) { return use == Use::fit ? "fit" : "check"; }

DocumentNode merged(const DocumentNode& base, const DocumentNode& over) {
  if (!base.is_map() || !over.is_map()) return over;
  DocumentNode result = over;  // what is found missing in it is reported where the case is
  result.entries = base.entries;
  for (const DocumentEntry& entry : over.entries) {
    const auto known =
        std::find_if(result.entries.begin(), result.entries.end(),
                     [&](const DocumentEntry& other) { return other.key == entry.key; });
    if (entry.value.is_null()) {
      if (known != result.entries.end()) result.entries.erase(known);
    } else if (known == result.entries.end()) {
      result.entries.push_back(entry);
    } else {
      *known = {entry.key, entry.line, entry.column, merged(known->value, entry.value)};
    }
  }
  return result;
}

Suite load_suite(const std::string& file, const std::vector<std::string>& overrides) {
  Diagnostics diagnostics;
  Document document = read_document(file, diagnostics);
  refuse_scenario(document.root);
  Suite suite;
  suite.file = document.file;
  suite.hash = document.hash;
  SuiteReader(overrides, diagnostics).read(document.root, suite);
  diagnostics.throw_if_any();
  return suite;
}

Scenario scenario_of(const DataDirectory& data, const SuiteCase& suite_case) {
  Scenario scenario = scenario_of_document(data, suite_case.document);
  if (!suite_case.stack.empty()) resolve_stack(data, suite_case.stack, scenario);
  return scenario;
}

}  // namespace stepsim::scenarios
