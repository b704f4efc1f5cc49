#pragma once

/// The keys of scenario files as a table, taken from their JSON Schema.

#include "report/table.hpp"

#include <string>

namespace stepsim::report {

/// A row a key: dotted path, type or choices, default, description.
Table schema_table(const std::string& schema);

}  // namespace stepsim::report
