#pragma once

/// Schedules that split backward in two, so that weight gradients fill what would be bubbles.
/// Private to pipeline_schedule.hpp, which says where each is from.

#include "workloads/pipeline_schedule.hpp"

#include <vector>

namespace stepsim::workloads {

std::vector<PipelinePass> zb1p_passes(const PipelineShape& shape, int rank);
std::vector<PipelinePass> zbv_passes(const PipelineShape& shape, int rank);
std::vector<PipelinePass> dualpipe_passes(const PipelineShape& shape, int rank);
std::vector<PipelinePass> dualpipev_passes(const PipelineShape& shape, int rank);

}  // namespace stepsim::workloads
