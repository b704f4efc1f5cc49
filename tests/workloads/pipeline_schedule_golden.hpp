#pragma once

/// Schedules written out, to hold pipeline_passes to.

#include "workloads/pipeline_schedule.hpp"

#include <string>
#include <vector>

namespace stepsim::workloads::testing {

struct GoldenSchedule {
  PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
  int virtual_stages = 1;
  int micro_batches = 1;
  std::vector<std::string> ranks;  // one text a rank
};

const std::vector<GoldenSchedule>& golden_schedules();

}  // namespace stepsim::workloads::testing
