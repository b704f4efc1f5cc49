#pragma once

/// Which data files an answer rests on.

#include "scenarios/step_result.hpp"

#include "workloads/kernel_profile.hpp"
#include "workloads/model.hpp"
#include "workloads/step_coefficients.hpp"

#include "topology/collective.hpp"
#include "topology/device.hpp"
#include "topology/node.hpp"

#include "sim/base/data_directory.hpp"

#include <vector>

namespace stepsim::scenarios {

/// Files of the data directory are named relative to it, so that equal installations say the same.
ProfileUse model_use(const DataDirectory& data, const workloads::Model& model);
ProfileUse device_use(const DataDirectory& data, const topology::Device& device);
ProfileUse node_use(const DataDirectory& data, const topology::Node& node);
/// Nothing is added for a profile that is built in.
void add_kernels_use(std::vector<ProfileUse>& uses, const DataDirectory& data,
                     const workloads::KernelProfile& profile);
ProfileUse steps_use(const DataDirectory& data, const workloads::StepCoefficientFile& file,
                     const std::string& stack);
void add_nccl_uses(std::vector<ProfileUse>& uses, const DataDirectory& data,
                   const topology::CollectiveModel& model);

}  // namespace stepsim::scenarios
