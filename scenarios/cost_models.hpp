#pragma once

/// The cost models of one scenario, and what they rest on.

#include "scenarios/step_result.hpp"

#include "workloads/kernel_cost.hpp"
#include "workloads/step.hpp"

#include "topology/collective.hpp"

#include "sim/base/data_directory.hpp"

#include <string>
#include <vector>

namespace stepsim::scenarios {

class CostModels {
 public:
  CostModels(const DataDirectory& data, const Scenario& scenario);

  /// What a step is built from; refers to this object and to `scenario`.
  workloads::StepInput input(const Scenario& scenario) const;

  /// Every data file the models were read from, in the order of the layers.
  std::vector<ProfileUse> profiles(const Scenario& scenario) const;

  /// What the answer rests on that nobody measured or stated: the scenario's open keys, assumed
  /// numbers of the profiles, what kernels beside collectives lose, unmeasured kernels and
  /// collectives of the step. Each once, in that order.
  std::vector<std::string> assumptions(const Scenario& scenario, const workloads::Step& step) const;

 private:
  DataDirectory data_;
  workloads::KernelCostModel kernels_;
  topology::CollectiveModel collectives_;
};

}  // namespace stepsim::scenarios
