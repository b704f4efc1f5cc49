#pragma once

/// The answer: everything `stepsim run` and `stepsim memory` print, as data.

#include "scenarios/scenario.hpp"

#include "workloads/memory.hpp"

#include "sim/attribution.hpp"

#include <string>
#include <vector>

namespace stepsim::scenarios {

struct StepResult {
  double step_time_s = 0;
  double tokens_per_second = 0;
  double tokens_per_second_per_gpu = 0;
  double model_flops_per_second_per_gpu = 0;
  double mfu = 0;
  double hfu = 0;
  double peak_flops_per_second = 0;  // dense bf16 datasheet peak: the denominator of mfu and hfu
  sim::CriticalPath critical_path;
  sim::TimeLine time_line;  // mean over ranks
  workloads::MemoryReport memory;
  std::vector<std::string> assumptions;
  struct Simulation {
    std::int64_t ranks = 0;
    std::int64_t classes = 0;
    std::uint64_t ops = 0;
    double wall_s = 0;
    int threads = 1;
  } simulation;
};

/// Runs one scenario from start to answer.
StepResult simulate_step(const DataDirectory& data, const Scenario& scenario);

/// Memory only: builds the programs and replays their memory, without executing the step.
workloads::MemoryReport account_memory(const DataDirectory& data, const Scenario& scenario);

}  // namespace stepsim::scenarios
