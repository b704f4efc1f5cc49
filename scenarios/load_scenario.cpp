#include "scenarios/overrides.hpp"
#include "scenarios/resolve_scenario.hpp"
#include "scenarios/scenario.hpp"
#include "scenarios/scenario_blocks.hpp"

#include "sim/base/document_writer.hpp"

#include <array>
#include <utility>

namespace stepsim::scenarios {

namespace {

/// Files that people take for scenarios, told by a key that scenarios do not have.
struct OtherKind {
  const char* key;
  const char* problem;
  const char* expected;
};

constexpr std::array other_kinds{
    OtherKind{"suite", "this file is a suite of measured runs, not a scenario",
              "a file with the keys model, cluster, plan and training"},
    OtherKind{"cases", "this file is a suite of measured runs, not a scenario",
              "a file with the keys model, cluster, plan and training"},
    OtherKind{"axes", "this file is a sweep, not a scenario",
              "a file with the keys model, cluster, plan and training"},
    OtherKind{"model_type", "this file is a model, not a scenario",
              "a scenario that names it: model: FILE"},
    OtherKind{"architectures", "this file is a model, not a scenario",
              "a scenario that names it: model: FILE"},
    OtherKind{"interconnect", "this file is a node type, not a scenario",
              "a scenario that names it: cluster: { node: FILE }"},
};

void refuse_other_kinds(const DocumentNode& root) {
  for (const OtherKind& kind : other_kinds) {
    const DocumentEntry* entry = root.find_entry(kind.key);
    if (entry == nullptr) continue;
    throw InputError(Diagnostic{entry->where(), kind.key, kind.problem, kind.expected, ""});
  }
}

Scenario scenario_of(const DataDirectory& data, DocumentNode root,
                     const std::vector<std::string>& overrides, Diagnostics& diagnostics) {
  apply_overrides(root, overrides, diagnostics);
  ScenarioSpec spec;
  scenario_block().read(root, "", diagnostics, spec);
  KeyProblems problems(root, diagnostics);
  Scenario scenario = resolve_scenario(data, spec, problems);
  diagnostics.throw_if_any();
  scenario.document = std::move(root);
  return scenario;
}

}  // namespace

Scenario load_scenario(const DataDirectory& data, const std::string& file,
                       const std::vector<std::string>& overrides) {
  Diagnostics diagnostics;
  Document document = read_document(file, diagnostics);
  refuse_other_kinds(document.root);
  return scenario_of(data, std::move(document.root), overrides, diagnostics);
}

Scenario scenario_of_document(const DataDirectory& data, DocumentNode root) {
  Diagnostics diagnostics;
  return scenario_of(data, std::move(root), {}, diagnostics);
}

Scenario with_overrides(const DataDirectory& data, const Scenario& scenario,
                        const std::vector<std::string>& overrides) {
  Diagnostics diagnostics;
  Scenario changed = scenario_of(data, scenario.document, overrides, diagnostics);
  changed.flops_convention = scenario.flops_convention;
  return changed;
}

std::string effective_configuration(const Scenario& scenario) {
  return write_yaml(scenario_block().write(spec_of(scenario)));
}

}  // namespace stepsim::scenarios
