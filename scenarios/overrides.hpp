#pragma once

/// `--set path=value`: changes of a scenario from the command line.

#include "sim/base/diagnostics.hpp"
#include "sim/base/document.hpp"

#include <string>
#include <vector>

namespace stepsim::scenarios {

/// Applies «cluster.nodes=16» and the like to a document, in order. The value is YAML on one line
/// (`training.activation_checkpointing={kind: selective, policy: op}`); `null` takes the key
/// away. Blocks on the way that are not there are made. Problems are located as «--set
/// cluster.nodes=16», and so is everything that is later found wrong with the value.
void apply_overrides(DocumentNode& root, const std::vector<std::string>& overrides,
                     Diagnostics& problems);

}  // namespace stepsim::scenarios
