#pragma once

/// Which group of which cluster a log of nccl-tests is of. Private to calibrate.

#include "calibrate/nccl_comparison.hpp"

namespace stepsim::calibrate {

/// Things to tell the user go to `notes`. Throws InputError.
MeasuredGroup measured_group(const NcclTestsLog& log, const MeasuredRun& run,
                             std::vector<std::string>& notes);

}  // namespace stepsim::calibrate
