#pragma once

/// What a step waits for and what would change it: the step is simulated again with one clock made
/// free, and with one resource 10 % faster.

#include "scenarios/simulate.hpp"
#include "scenarios/step_result.hpp"

#include "sim/base/data_directory.hpp"
#include "sim/base/units.hpp"

#include <string>
#include <vector>

namespace stepsim::scenarios {

/// The step again, with one thing changed.
struct WhatIf {
  /// Of a counterfactual the clock («compute», …); of a sensitivity the resource: «SMs», «memory»,
  /// «NVLink» or «PCIe», «network ports», «host».
  std::string what;
  Time step_time;
  Time saved;  // of the step as it is; below zero when the step gets longer
  std::string sentence;
};

struct Explanation {
  StepResult result;
  std::vector<WhatIf> free_clocks;       // the most saved first
  std::vector<WhatIf> faster_resources;  // by a tenth; the most saved first
};

/// Free clocks. compute, memory: kernels take what their traffic, or their arithmetic, takes;
/// communication: transfers take no time and hold nothing of a GPU (latencies stay); overhead:
/// nothing takes the host time, and there are no latencies and no fixed parts of kernels.
/// A tenth faster. SMs: arithmetic; memory: HBM traffic; NVLink or PCIe: transfers of groups inside
/// a node; network ports: transfers of groups over nodes, which ports bound; host: all it does.
/// Throws as simulate_step does. The result is the same for any number of threads.
Explanation explain_step(const DataDirectory& data, const Scenario& scenario,
                         const SimulateOptions& options = {});

}  // namespace stepsim::scenarios
