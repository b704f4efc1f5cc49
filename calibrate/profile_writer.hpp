#pragma once

/// Writes kernel profiles as workloads/kernel_profile.hpp reads them.

#include "workloads/kernel_profile.hpp"

#include <string>

namespace stepsim::calibrate {

/// The text of a profile file. Numbers are rounded to four significant digits, which is far finer
/// than their errors and hides the last bits in which mathematics libraries differ.
std::string profile_text(const workloads::KernelProfile& profile);

/// The file that holds the grid of residuals of a number format.
std::string grid_name(const std::string& device, topology::MatrixFormat format);

/// Writes a file whole or not at all: to a temporary file beside it, which is then renamed. Throws
/// InputError when that fails.
void write_whole(const std::string& file, const std::string& text);

/// A number rounded to four significant digits, as a profile states it.
std::string rounded(double value);

}  // namespace stepsim::calibrate
