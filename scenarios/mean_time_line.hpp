#pragma once

/// The time line of a step: the mean over its ranks of each rank's own.

#include "sim/attribution.hpp"
#include "sim/executor.hpp"
#include "sim/job.hpp"

#include <cstdint>

namespace stepsim::scenarios {

struct MeanTimeLine {
  sim::TimeLine time_line;
  std::int64_t classes = 0;  // sets of ranks with the same program and the same times
};

/// All parts are whole picoseconds and keep the sums of one rank's time line: the four parts make
/// the step, causes make `idle`, groups make `exposed`. What division leaves over, under a
/// picosecond a part, counts as compute.
MeanTimeLine mean_time_line(const sim::Job& job, const sim::Execution& execution);

}  // namespace stepsim::scenarios
