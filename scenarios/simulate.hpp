#pragma once

/// From a scenario to its answer: reads the profiles it names, emits the step, executes it and
/// attributes its time.

#include "scenarios/step_result.hpp"

#include "sim/executor.hpp"

#include "sim/base/data_directory.hpp"

namespace stepsim::scenarios {

/// How the answer is found; not what it is.
struct SimulateOptions {
  bool fold = true;  // execute ranks that cannot be told apart once
  int threads = 1;   // for what is simulated several times: seeds, long runs, what-ifs
};
sim::ExecutionOptions execution_options(const SimulateOptions& options);

/// Runs one scenario from start to answer. With noise the answer is that of the seed whose step is
/// the median, beside the distribution over seeds. Throws InputError for a plan that cannot be
/// and for quantities that leave the simulator's range, at the place of the scenario.
StepResult simulate_step(const DataDirectory& data, const Scenario& scenario,
                         const SimulateOptions& options = {});

/// Step time and memory alone, for many scenarios in a row.
struct StepPrediction {
  Time step_time;
  workloads::MemoryReport memory;  // of the fullest stage
};
StepPrediction predict_step(const DataDirectory& data, const Scenario& scenario);

struct MemoryAnswer {
  MemoryResult memory;
  std::vector<ProfileUse> profiles;
  std::vector<std::string> assumptions;
};

/// Memory only: emits the programs and replays their memory, without executing the step.
MemoryAnswer account_memory(const DataDirectory& data, const Scenario& scenario);

/// Memory of the fullest stage, without looking for a remedy.
workloads::MemoryReport fullest_stage(const DataDirectory& data, const Scenario& scenario);

}  // namespace stepsim::scenarios
