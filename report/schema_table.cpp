#include "report/schema_table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <vector>

namespace stepsim::report {

namespace {

using nlohmann::ordered_json;

std::string word(const ordered_json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string joined(const ordered_json& values) {
  std::vector<std::string> words;
  for (const ordered_json& value : values) words.push_back(word(value));
  return fmt::format("{}", fmt::join(words, " / "));
}

// «fsdp2 / ddp», «integer», or what the alternatives are.
std::string type_of(const ordered_json& key) {
  if (key.contains("enum")) return joined(key.at("enum"));
  if (key.contains("const")) return word(key.at("const"));
  for (const char* alternatives : {"oneOf", "anyOf"}) {
    if (!key.contains(alternatives)) continue;
    std::vector<std::string> types;
    for (const ordered_json& alternative : key.at(alternatives)) {
      types.push_back(type_of(alternative));
    }
    return fmt::format("{}", fmt::join(types, " / "));
  }
  if (!key.contains("type")) return "";
  const ordered_json& type = key.at("type");
  return type.is_array() ? joined(type) : word(type);
}

void add_keys(Table& table, const std::string& path, const ordered_json& schema) {
  for (const char* alternatives : {"oneOf", "anyOf"}) {
    if (!schema.contains(alternatives)) continue;
    for (const ordered_json& alternative : schema.at(alternatives)) {
      add_keys(table, path, alternative);
    }
  }
  if (schema.contains("items")) add_keys(table, path + "[]", schema.at("items"));
  if (!schema.contains("properties")) return;
  for (const auto& [name, key] : schema.at("properties").items()) {
    const std::string key_path = path.empty() ? name : path + '.' + name;
    table.add_row({key_path, type_of(key), key.contains("default") ? word(key.at("default")) : "",
                   key.value("description", "")});
    add_keys(table, key_path, key);
  }
}

}  // namespace

Table schema_table(const std::string& schema) {
  Table table{{{"key"}, {"values"}, {"default"}, {"description"}}, {}};
  add_keys(table, "", ordered_json::parse(schema));
  return table;
}

}  // namespace stepsim::report
