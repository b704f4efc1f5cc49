#pragma once

/// Grids of residuals in files of their own, beside the profile that names them: thousands of
/// numbers that a YAML reader would take longer over than a whole simulation takes.
///
///     m,n,32,64,128            <- the k axis
///     1,32,-9,-10,-9           <- percent that measured times lie above the model's
///     1,64,-8,-9,-9

#include "workloads/gemm_correction.hpp"

#include <string>

namespace stepsim::workloads {

/// Reads a grid. Throws InputError with file and line: not a grid, axes that do not rise, rows
/// missing or out of order, percentages below -99 or above 1000.
GemmCorrection parse_grid(const std::string& text, const std::string& file);

/// The text of a grid, as parse_grid reads it.
std::string grid_text(const GemmCorrection& correction);

}  // namespace stepsim::workloads
