#pragma once

/// JSON Schemas of the blocks that may stand in a scenario where a name or a path may: a node with
/// the keys of a node file, a model with the keys of a Hugging Face config.json.

#include "scenarios/value_format.hpp"

#include "sim/base/data_directory.hpp"

namespace stepsim::scenarios {

/// Every key that topology/node.hpp reads.
Json node_block_schema(const DataDirectory& data);

/// The keys that most architectures have; which others there are depends on `model_type`.
Json model_block_schema();

}  // namespace stepsim::scenarios
