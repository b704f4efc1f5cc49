#include "report/result_json.hpp"

#include "scenarios/scenario.hpp"

#include "sim/base/document.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace stepsim::report {

namespace {

using nlohmann::ordered_json;

// Bare words are what JSON takes them for: numbers, true, false, null; all others are text.
ordered_json scalar_json(const DocumentNode& node) {
  if (node.quoted) return node.text;
  const ordered_json value = ordered_json::parse(node.text, nullptr, false);
  return value.is_primitive() && !value.is_discarded() ? value : ordered_json(node.text);
}

ordered_json node_json(const DocumentNode& node) {
  switch (node.kind) {
    case NodeKind::null:
      return nullptr;
    case NodeKind::scalar:
      return scalar_json(node);
    case NodeKind::list: {
      ordered_json list = ordered_json::array();
      for (const DocumentNode& item : node.items) list.push_back(node_json(item));
      return list;
    }
    case NodeKind::map: {
      ordered_json map = ordered_json::object();
      for (const DocumentEntry& entry : node.entries) map[entry.key] = node_json(entry.value);
      return map;
    }
  }
  return nullptr;
}

}  // namespace

ordered_json scenario_json(const scenarios::Scenario& scenario) {
  const std::string yaml = scenarios::effective_configuration(scenario);
  return node_json(parse_document(yaml, "effective configuration", DocumentFormat::yaml).root);
}

}  // namespace stepsim::report
