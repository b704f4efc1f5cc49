#include "workloads/hf_config.hpp"

#include "workloads/architectures/architectures.hpp"
#include "workloads/hf_config_reader.hpp"

#include "sim/base/error.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace stepsim::workloads {

namespace {

/// Set, that is, not one of the values that switch a feature off.
bool is_set(const DocumentNode& value) {
  if (value.is_scalar()) {
    return value.text != "false" && value.text != "0" && !value.text.empty();
  }
  return value.is_list() ? !value.items.empty() : !value.is_null();
}

/// Reports every key that stands for something that is not modelled. False when there is one.
bool refuse_unmodelled(const DocumentNode& block, const std::string& path,
                       Diagnostics& diagnostics) {
  bool clean = true;
  for (const DocumentEntry& entry : block.entries) {
    const std::string_view reason = unmodelled_reason(entry.key);
    if (reason.empty() || !is_set(entry.value)) continue;
    const std::string key = path.empty() ? entry.key : path + '.' + entry.key;
    diagnostics.add({entry.where(), key, std::string(reason), "a dense decoder", ""});
    clean = false;
  }
  return clean;
}

const Architecture* find_architecture(const std::string& model_type) {
  for (const Architecture& architecture : architectures()) {
    if (architecture.model_type == model_type) return &architecture;
  }
  return nullptr;
}

void refuse_model_type(HfReader& reader, const std::string& model_type) {
  const std::vector<std::string> supported = supported_model_types();
  std::string list;
  for (const std::string& name : supported) list += (list.empty() ? "" : ", ") + name;
  if (model_type.empty()) return reader.refuse("model_type", "is missing", "one of " + list);
  reader.refuse("model_type", "\"" + model_type + "\" is not an architecture that can be read",
                "one of " + list, nearest_choice(model_type, supported));
}

/// The text model of a file that also describes a vision or audio tower.
const DocumentNode* find_text_config(const DocumentNode& block) {
  const DocumentNode* nested = block.find("text_config");
  return nested != nullptr && nested->is_map() ? nested : nullptr;
}

void note_what_is_left_out(const DocumentNode& block, ModelFile& file) {
  for (const char* tower : {"vision_config", "audio_config"}) {
    if (block.find(tower) == nullptr) continue;
    file.notes.push_back(std::string(tower) + " is left out: only the language model is simulated");
  }
}

void read_published(HfReader& reader, ModelFile& file) {
  const DocumentNode* block = reader.take({"published"});
  if (block == nullptr) return;
  PublishedCount published;
  ObjectReader entry(*block, reader.path_of("published"), reader.context().diagnostics);
  entry.required("parameters", published.parameters, Integer{1});
  entry.optional("rounded_to", published.rounded_to, Integer{1});
  entry.optional("counts_tied_head_twice", published.counts_tied_head_twice);
  entry.required("source", published.source);
  entry.finish();
  file.published = published;
}

/// Layers that an architecture's own reader does not ask for are of the usual kind, or unknown
/// work.
void refuse_other_layers(HfReader& reader) {
  if (!reader.has("layer_types") || reader.has_taken("layer_types")) return;
  for (const std::string& type : reader.words("layer_types")) {
    if (type == "full_attention") continue;
    return reader.refuse("layer_types", "has a layer of \"" + type + "\", which is not modelled",
                         "full_attention");
  }
}

void read_dense(HfReader& reader, ModelFile& file) {
  Model& model = file.model;
  model.model_type = reader.word({"model_type"}, "");
  model.name = reader.word({"name"}, model.model_type);
  reader.word({"source"}, "");
  read_published(reader, file);
  const Architecture* architecture = find_architecture(model.model_type);
  if (architecture == nullptr) return refuse_model_type(reader, model.model_type);
  architecture->read(reader, model);
  refuse_other_layers(reader);
  reader.finish();
}

/// A file says best what it is called: by its own name, unless that is just «config».
std::string name_of(const std::string& file, const Model& model) {
  const std::filesystem::path path(file);
  std::string stem = path.stem().string();
  const std::string suffix = ".config";
  if (stem.size() > suffix.size() &&
      stem.compare(stem.size() - suffix.size(), suffix.size(), suffix) == 0) {
    stem.resize(stem.size() - suffix.size());
  }
  if (stem != "config") return stem;
  const std::string folder = path.parent_path().filename().string();
  return folder.empty() || folder == "." ? model.model_type : folder;
}

}  // namespace

std::vector<std::string> supported_model_types() {
  std::vector<std::string> names;
  for (const Architecture& architecture : architectures()) {
    names.emplace_back(architecture.model_type);
  }
  std::sort(names.begin(), names.end());
  return names;
}

ModelFile read_model(const DocumentNode& block, const std::string& path, UnknownKeys unknown,
                     Diagnostics& diagnostics) {
  ModelFile file;
  HfContext context{diagnostics, unknown, {}};
  if (!refuse_unmodelled(block, path, diagnostics)) return file;
  if (const DocumentNode* text = find_text_config(block)) {
    file = read_model(*text, path.empty() ? "text_config" : path + ".text_config", unknown,
                      diagnostics);
    HfReader outer(block, path, context);
    outer.take({"text_config"});
    if (text->find("tie_word_embeddings") == nullptr) {
      file.model.tied_embeddings = outer.flag({"tie_word_embeddings"}, file.model.tied_embeddings);
    }
    outer.finish();
    file.ignored.insert(file.ignored.end(), context.ignored.begin(), context.ignored.end());
    note_what_is_left_out(block, file);
    return file;
  }
  HfReader reader(block, path, context);
  if (block.is_map()) read_dense(reader, file);
  file.ignored = std::move(context.ignored);
  return file;
}

ModelFile load_hf_config(const std::string& file) {
  const Document document = read_document(file);
  Diagnostics diagnostics;
  ModelFile model = read_model(document.root, "", UnknownKeys::list, diagnostics);
  diagnostics.throw_if_any();
  model.model.name = name_of(file, model.model);
  model.model.source = file;
  model.model.hash = document.hash;
  return model;
}

}  // namespace stepsim::workloads
