#pragma once

/// A scenario file from a Hugging Face config.json.

#include "sim/base/data_directory.hpp"

#include <optional>
#include <string>

namespace stepsim::scenarios {

struct HuggingFaceImport {
  std::string config;                 // path of the config.json
  int gpus = 8;                       // H100s to train on
  std::optional<std::string> output;  // where the scenario will be written; absent: where we are
};

/// The text of a scenario file that trains the model, fully sharded, on DGX H100 nodes. Comments
/// say what was read, what is assumed because a config.json does not say it, and what was ignored.
/// Activation checkpointing is the least of none, selective and full with which the plan fits.
/// Throws InputError when the file cannot be read or holds a model that is not modelled.
std::string import_hugging_face(const DataDirectory& data, const HuggingFaceImport& request);

}  // namespace stepsim::scenarios
