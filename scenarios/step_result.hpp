#pragma once

/// The answer: everything `stepsim run` and `stepsim memory` print, as data.

#include "scenarios/added_time.hpp"
#include "scenarios/goodput.hpp"
#include "scenarios/noise.hpp"
#include "scenarios/path_contributions.hpp"
#include "scenarios/scenario.hpp"
#include "scenarios/uncertainty.hpp"

#include "workloads/memory_verdict.hpp"

#include "sim/attribution.hpp"

#include "sim/base/units.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stepsim::scenarios {

/// A data file the answer rests on.
struct ProfileUse {
  std::string kind;  // «device», «node», «kernels», «nccl», «model», «steps»
  std::string name;
  std::string file;
  std::string hash;  // of the file's bytes
};

/// Memory of the ranks that run one program.
struct StageMemory {
  std::string program;
  std::int64_t ranks = 0;
  workloads::MemoryReport report;
};

/// One change, or two, to a scenario that does not fit.
struct FitChange {
  std::vector<std::string> overrides;  // as --set takes them
  std::string description;             // «full activation checkpointing»
  workloads::MemoryReport report;      // of the fullest stage with the change
};

struct MemoryResult {
  std::vector<StageMemory> stages;
  std::size_t fullest = 0;           // index of the stage with the least room
  std::optional<FitChange> remedy;   // only looked for when a stage does not fit
  std::optional<FitChange> nearest;  // without a remedy: what comes nearest to fitting

  const workloads::MemoryReport& report() const { return stages[fullest].report; }
};

struct StepResult {
  Time step_time;
  double tokens_per_second = 0;
  double tokens_per_second_per_gpu = 0;
  double model_flops_per_second_per_gpu = 0;
  double mfu = 0;
  double hfu = 0;
  double peak_flops_per_second = 0;  // dense bf16 datasheet peak: the denominator of mfu and hfu
  sim::CriticalPath critical_path;
  std::vector<PathContribution> contributions;  // to critical_path, the longest first
  std::vector<AddedTime> added;                 // parts of critical_path.by_clock
  sim::TimeLine time_line;  // mean over ranks; its parts sum to step_time as they do for one rank
  MemoryResult memory;
  std::uint64_t seed = 0;                        // of the noise in this step
  std::optional<StepDistribution> distribution;  // over seeds, where there is noise
  std::optional<Goodput> goodput;                // of a long run, where parts may fail
  std::optional<double> measured_error;          // predicted step time / measured step time − 1
  StepUncertainty uncertainty;
  std::vector<ProfileUse> profiles;
  std::vector<std::string> assumptions;
  struct Simulation {
    std::int64_t ranks = 0;
    std::int64_t classes = 0;          // sets of ranks with the same program and the same times
    std::int64_t simulated_ranks = 0;  // fewer than ranks when the step was folded
    std::string executor;              // «run_ahead», or «time_order» where ops share resources
    std::uint64_t ops = 0;
    double wall_s = 0;
    int threads = 1;
  } simulation;
};

}  // namespace stepsim::scenarios
