#include "scenarios/scenario.hpp"
#include "scenarios/value_format.hpp"

#include "sim/base/document.hpp"

#include "tests/scenarios/scenario_text.hpp"
#include "tests/support/catch.hpp"

#include <nlohmann/json.hpp>

#include <regex>

using namespace stepsim;
using namespace stepsim::scenarios;

namespace {

bool has_type(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  throw std::logic_error("the schema has the type " + type + ", which this test does not know");
}

/// As much of JSON Schema as ours uses; a keyword this test does not know fails it.
bool is_valid(const Json& schema, const Json& value);

bool are_properties_valid(const Json& schema, const Json& value) {
  for (const auto& [key, child] : value.items()) {
    if (!schema.at("properties").contains(key)) return schema.at("additionalProperties") != false;
    if (!is_valid(schema.at("properties").at(key), child)) return false;
  }
  return true;
}

bool is_keyword_valid(const Json& schema, const std::string& keyword, const Json& rule,
                      const Json& value) {
  const auto matches = [&](const Json& alternative) { return is_valid(alternative, value); };
  const auto matches_rule = [&](const Json& item) { return is_valid(rule, item); };
  if (keyword == "type") return has_type(value, rule);
  if (keyword == "enum") return std::count(rule.begin(), rule.end(), value) > 0;
  if (keyword == "const") return value == rule;
  if (keyword == "anyOf") return std::any_of(rule.begin(), rule.end(), matches);
  if (keyword == "items")
    return !value.is_array() || std::all_of(value.begin(), value.end(), matches_rule);
  if (keyword == "minimum") return !value.is_number() || value >= rule;
  if (keyword == "maximum") return !value.is_number() || value <= rule;
  if (keyword == "minLength") return !value.is_string() || !value.get<std::string>().empty();
  if (keyword == "pattern") {
    return !value.is_string() ||
           std::regex_search(value.get<std::string>(), std::regex(rule.get<std::string>()));
  }
  if (keyword == "properties") return !value.is_object() || are_properties_valid(schema, value);
  if (keyword == "required") {
    return !value.is_object() || std::all_of(rule.begin(), rule.end(), [&](const Json& key) {
      return value.contains(key.get<std::string>());
    });
  }
  const std::vector<std::string> about{"$schema", "title", "description", "default",
                                       "additionalProperties"};
  if (std::count(about.begin(), about.end(), keyword) > 0) return true;
  throw std::logic_error("the schema has the keyword " + keyword +
                         ", which this test does not know");
}

bool is_valid(const Json& schema, const Json& value) {
  for (const auto& [keyword, rule] : schema.items()) {
    if (!is_keyword_valid(schema, keyword, rule, value)) return false;
  }
  return true;
}

Json schema() { return Json::parse(scenario_schema(test_data())); }

Json json_of_text(const std::string& text) {
  return json_of(parse_document(text, "s.yaml", DocumentFormat::yaml).root);
}

/// Every property of the schema, by dotted path.
void collect(const Json& schema, const std::string& path, std::map<std::string, Json>& found) {
  if (schema.contains("anyOf")) {
    for (const Json& alternative : schema.at("anyOf")) collect(alternative, path, found);
  }
  if (!schema.contains("properties")) return;
  for (const auto& [name, child] : schema.at("properties").items()) {
    const std::string key = path.empty() ? name : path + '.' + name;
    found[key] = child;
    collect(child, key, found);
  }
}

/// A node with every key; its numbers have no sources, which then count as assumed.
const std::string inline_node =
    "{name: box, description: a box, device: h100-sxm-80gb, gpus: 8, interconnect: nvswitch, "
    "in_switch_reduction: true, nvlink_bandwidth: 450 GB/s, nvlink_count: 18, nvlink_domain: 8, "
    "pcie_generation: 5, pcie_bandwidth: 64 GB/s, socket_bandwidth: 22 GB/s, nics: 8, "
    "nic_bandwidth: 400 Gb/s, cpu: intel}";

/// Whether the loader takes a value of one key, whatever it says of keys that do not fit together.
bool loader_takes(const std::string& path, const std::string& value) {
  // On one GPU every degree and batch fits. A key of a node needs a node written out.
  const std::string node = path.starts_with("cluster.node.") ? inline_node : "dgx-h100";
  const std::string one_gpu = "model: llama3.2-1b\ncluster: {node: " + node +
                              ", gpus: 1}\nplan: {strategy: fsdp2}\n"
                              "training: {sequence_length: 128}\n";
  const std::string said = complaint(one_gpu, {path + '=' + value}) + '\n';
  const std::regex refusal(std::regex_replace(path, std::regex("\\."), "\\.") +
                           "(\\[[0-9]+\\])?(\\..*: |: (is |cannot |there is no |\"))");
  return !std::regex_search(said, refusal);
}

}  // namespace

TEST_CASE("schema and loader agree on every key") {
  std::map<std::string, Json> keys;
  collect(schema(), "", keys);
  REQUIRE(keys.size() > 40);
  const std::vector<std::string> probes{"true",
                                        "1",
                                        "0",
                                        "-1",
                                        "2",
                                        "0.5",
                                        "2000000000",
                                        "text",
                                        "\"8\"",
                                        "400 Gb/s",
                                        "80 GB",
                                        "1.5 s",
                                        "5 TFLOP/s",
                                        "[1]",
                                        "fsdp2",
                                        "bf16",
                                        "full",
                                        "adamw",
                                        "every",
                                        "flash3",
                                        "six-n",
                                        "fat-tree",
                                        "2.27.7",
                                        "{kind: full}",
                                        "{version: 2.27.7}",
                                        "{step_time: 1 s}",
                                        "op"};
  for (const auto& [path, key] : keys) {
    const bool references = path == "model" || path == "cluster.node";
    if (references || path.starts_with("model.")) continue;
    const bool part_of_number = std::regex_search(path, std::regex("\\.(value|source|note)$"));
    if (part_of_number || key.value("type", "") == "object") continue;
    for (const std::string& probe : probes) {
      INFO(path << " = " << probe);
      const bool valid = is_valid(key, json_of_text(probe));
      CHECK(valid == loader_takes(path, probe));
    }
  }
}

TEST_CASE("a node written out is valid by the schema with every key that the loader needs") {
  const Json node = schema().at("properties").at("cluster").at("properties").at("node");
  const Json whole = json_of_text(inline_node);
  CHECK(is_valid(node, whole));
  for (const auto& entry :
       std::filesystem::directory_iterator(test_data().root() / "topology" / "nodes")) {
    INFO(entry.path());
    CHECK(is_valid(node, json_of(read_document(entry.path().string()).root)));
  }
  const Json& required = node.at("anyOf").at(2).at("required");
  for (const auto& [key, value] : whole.items()) {
    INFO(key);
    Json without = whole;
    without.erase(key);
    const bool needed = std::count(required.begin(), required.end(), key) > 0;
    CHECK(is_valid(node, without) != needed);
    const std::string said =
        complaint("model: llama3.2-1b\ncluster: {node: " + without.dump() +
                  ", gpus: 1}\nplan: {strategy: fsdp2}\ntraining: {sequence_length: 128}\n");
    if (needed) CHECK(said.find("cluster.node." + key + ": is missing") != std::string::npos);
  }
}

TEST_CASE(
    "a model written out is valid by the schema, and its keys are known to some architecture") {
  const Json model = schema().at("properties").at("model");
  const Json& block = model.at("anyOf").at(2);
  for (const auto& entry :
       std::filesystem::directory_iterator(test_data().root() / "workloads" / "models")) {
    INFO(entry.path());
    CHECK(is_valid(model, json_of(read_document(entry.path().string()).root)));
  }
  CHECK_FALSE(is_valid(model, json_of_text("{hidden_size: 4096}")));
  const auto takes = [](const std::string& type, const std::string& key) {
    const std::string said = complaint("model: {model_type: " + type + ", " + key +
                                       ": x}\ncluster: {node: dgx-h100, nodes: 1}\n"
                                       "plan: {strategy: fsdp2}\ntraining: {sequence_length: 8}\n");
    return said.find("model." + key + ": is not a known key") == std::string::npos;
  };
  for (const auto& [key, rule] : block.at("properties").items()) {
    INFO(key);
    const std::vector<std::string> types = block.at("properties").at("model_type").at("enum");
    CHECK(std::any_of(types.begin(), types.end(),
                      [&, &name = key](const std::string& type) { return takes(type, name); }));
  }
}

TEST_CASE("what the schema does not have the loader refuses as unknown or as not yet supported") {
  std::map<std::string, Json> keys;
  collect(schema(), "", keys);
  for (const char* path : {"plan.zero", "plan.offload", "plan.moe", "training.tokens",
                           "training.lora", "software.released", "workload", "cost"}) {
    INFO(path);
    CHECK(keys.count(path) == 0);
    CHECK(complaint(scenario_text(), {std::string(path) + "=1"}) ==
          "--set " + std::string(path) + "=1: " + path + ": is not supported by this version yet");
  }
}

TEST_CASE("examples are valid by the schema, and malformed files are not") {
  for (const auto& entry :
       std::filesystem::directory_iterator(test_data().root() / "scenarios" / "examples")) {
    if (entry.path().extension() != ".yaml") continue;
    INFO(entry.path());
    CHECK(is_valid(schema(), json_of(read_document(entry.path().string()).root)));
  }
  CHECK(is_valid(schema(), json_of_text(scenario_text())));
  for (const std::map<int, std::string>& lines :
       std::vector<std::map<int, std::string>>{{{1, ""}},
                                               {{3, ""}},
                                               {{4, "  nods: 2"}},
                                               {{4, "  nodes: 0"}},
                                               {{4, "  nodes: \"2\""}},
                                               {{6, "  strategy: zero3"}},
                                               {{9, ""}},
                                               {{12, "software: {compile: yes}"}},
                                               {{12, "software: {nccl: latest}"}},
                                               {{12, "measured: {step_time: 9.6}"}}}) {
    CAPTURE(lines);
    CHECK_FALSE(is_valid(schema(), json_of_text(scenario_text(lines))));
    CHECK(complaint(scenario_text(lines)) != "");
  }
}

TEST_CASE("defaults of the schema are those of the loader") {
  const Json json = schema();
  const Json effective = json_of_text(effective_configuration(
      load_text("model: llama3-8b\ncluster: {node: dgx-h100, nodes: 1}\nplan: {strategy: fsdp2}\n"
                "training: {sequence_length: 2048}\n")));
  int compared = 0;
  for (const char* block : {"plan", "training", "software"}) {
    for (const auto& [name, value] : effective.at(block).items()) {
      const Json& key = json.at("properties").at(block).at("properties").at(name);
      if (!key.contains("default")) continue;
      INFO(block << '.' << name);
      CHECK(key.at("default") == value);
      ++compared;
    }
  }
  REQUIRE(compared >= 8);
}
