#pragma once

/// Which stepsim this is.

#include <string>

namespace stepsim::report {

/// «0.1.0».
std::string version();

/// What it was built from and with: commit, build type, compiler. The part of the provenance that
/// may differ between equal results.
std::string build();

}  // namespace stepsim::report
