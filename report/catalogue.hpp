#pragma once

/// What ships with stepsim, as tables for `stepsim list`.

#include "report/table.hpp"

#include "sim/base/data_directory.hpp"

namespace stepsim::report {

Table models_table(const DataDirectory& data);
Table devices_table(const DataDirectory& data);
Table nodes_table(const DataDirectory& data);

/// Kernel profiles: whose measurements they are, and the error of each fit on what it did not see.
Table kernels_table(const DataDirectory& data);

/// Example scenarios.
Table examples_table(const DataDirectory& data);

}  // namespace stepsim::report
