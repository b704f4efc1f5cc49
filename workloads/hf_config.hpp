#pragma once

/// Models from Hugging Face keys: a config.json, an inline block of a scenario, or a file of the
/// zoo (workloads/models/NAME.yaml), all with the same keys and the same reader.
///
/// A dense decoder whose model_type is known is read with the defaults of its implementation. A key
/// that would change shapes or work in a way that is not modelled (experts, latent attention, …) is
/// refused at its place; keys that cannot change them are passed over; anything else is listed, so
/// that an importer can say what it did not use.

#include "workloads/model.hpp"

#include "sim/base/data_directory.hpp"
#include "sim/base/document.hpp"
#include "sim/base/object_reader.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stepsim::workloads {

/// A parameter count that its source printed, to the digits it printed.
struct PublishedCount {
  std::int64_t parameters = 0;
  std::int64_t rounded_to = 1;          // the count is known to half of this
  bool counts_tied_head_twice = false;  // as checkpoints do that store both
  std::string source;
};

struct ModelFile {
  Model model;
  std::vector<std::string> ignored;  // keys nobody used, as dotted paths in file order
  std::vector<std::string> notes;    // what was left out of the model, in words
  std::optional<PublishedCount> published;
};

/// What to do with keys that mean nothing to the reader: list them (a config.json is full of them)
/// or refuse them (a file written for us).
enum class UnknownKeys { list, refuse };

/// Reads a block of Hugging Face keys at `path` of its document. Problems go to `diagnostics`; the
/// result is usable only when none was added.
ModelFile read_model(const DocumentNode& block, const std::string& path, UnknownKeys unknown,
                     Diagnostics& diagnostics);

/// Reads a Hugging Face config.json (or a YAML file with its keys). Throws InputError.
ModelFile load_hf_config(const std::string& file);

/// The model_type values that can be read, sorted.
std::vector<std::string> supported_model_types();

/// The zoo: names, sorted, and one of them by name. Throws InputError naming the nearest.
std::vector<std::string> zoo_names(const DataDirectory& data);
ModelFile load_zoo_model(const DataDirectory& data, const std::string& name);

/// A zoo name or the path of a file with Hugging Face keys. A text that ends in .json, .yaml or
/// .yml or has a slash in it is a path, looked up from `folder` unless absolute. Throws InputError.
ModelFile load_model(const DataDirectory& data, const std::string& reference,
                     const std::string& folder = "");

/// The value of a scenario's `model` key: a zoo name, a path (from the folder of the document's
/// file) or an inline block. Problems, with their places, go to `diagnostics`.
ModelFile read_model_reference(const DataDirectory& data, const DocumentNode& value,
                               const std::string& path, Diagnostics& diagnostics);

}  // namespace stepsim::workloads
