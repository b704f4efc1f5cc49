// Finds a model by zoo name, by path or in a scenario.

#include "workloads/hf_config.hpp"

#include "sim/base/error.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace stepsim::workloads {

namespace {

constexpr const char* folder_of_zoo = "workloads/models";

bool looks_like_a_path(const std::string& reference) {
  const std::string extension = std::filesystem::path(reference).extension().string();
  return reference.find('/') != std::string::npos || extension == ".json" || extension == ".yaml" ||
         extension == ".yml";
}

}  // namespace

std::vector<std::string> zoo_names(const DataDirectory& data) {
  return data.names(folder_of_zoo, ".yaml");
}

ModelFile load_zoo_model(const DataDirectory& data, const std::string& name) {
  const std::vector<std::string> names = zoo_names(data);
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    throw InputError(Diagnostic{{},
                                "",
                                "there is no model named \"" + name + "\"",
                                "a model of `stepsim list models`, or the path of a Hugging Face "
                                "config.json",
                                nearest_choice(name, names)});
  }
  const std::string file = data.file(folder_of_zoo, name + ".yaml").string();
  const Document document = read_document(file);
  Diagnostics diagnostics;
  ModelFile model = read_model(document.root, "", UnknownKeys::refuse, diagnostics);
  diagnostics.throw_if_any();
  model.model.name = name;
  model.model.source = "zoo: " + name;
  model.model.hash = document.hash;
  return model;
}

ModelFile load_model(const DataDirectory& data, const std::string& reference,
                     const std::string& folder) {
  if (!looks_like_a_path(reference)) return load_zoo_model(data, reference);
  return load_hf_config((std::filesystem::path(folder) / reference).string());
}

ModelFile read_model_reference(const DataDirectory& data, const DocumentNode& value,
                               const std::string& path, Diagnostics& diagnostics) {
  if (value.is_map()) {
    ModelFile file = read_model(value, path, UnknownKeys::refuse, diagnostics);
    file.model.source = value.where().file + ": " + path;
    return file;
  }
  const ValueSite site{value, path, diagnostics};
  std::string reference;
  if (!read_value(site, Text{}, reference)) return {};
  try {
    return load_model(data, reference,
                      std::filesystem::path(value.where().file).parent_path().string());
  } catch (const InputError& error) {
    for (Diagnostic diagnostic : error.diagnostics()) {
      if (diagnostic.where.file.empty()) {
        diagnostic.where = value.where();
        diagnostic.path = path;
      }
      diagnostics.add(std::move(diagnostic));
    }
    return {};
  }
}

}  // namespace stepsim::workloads
