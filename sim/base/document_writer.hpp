#pragma once

/// Writes trees of document nodes as YAML that the strict reader reads back to the same tree.

#include "sim/base/document.hpp"

#include <string>
#include <string_view>

namespace stepsim {

/// Nodes made by hand. A plain scalar is for numbers, quantities, booleans and words of ours; text
/// of somebody else's is quoted.
DocumentNode plain_scalar(std::string text);
DocumentNode quoted_scalar(std::string text);
DocumentNode empty_map();
void append(DocumentNode& map, std::string key, DocumentNode value);

/// A scalar is written plain when that reads back as it is, and in double quotes otherwise. Lists
/// of scalars stand on one line.
std::string write_yaml(const DocumentNode& root);

}  // namespace stepsim
