#pragma once

/// Parameter groups of FSDP2: which parameters are gathered and reduced together, and when they are
/// freed. Wrapping follows torchtitan's Llama recipe (apply_fsdp, December 2024 and later): the
/// token embedding is a group, every block is one, the final norm and the head are one; the root
/// holds what is left, which is nothing here. Tied embedding and head form one group.

#include "workloads/plan.hpp"
#include "workloads/step_work.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace stepsim::workloads {

struct ParameterGroup {
  std::string name;                       // «embedding», «layers.3», «head»
  std::vector<std::size_t> modules;       // in forward order
  std::vector<std::uint32_t> parameters;  // rows of StepWork::parameters
  std::int64_t elements = 0;              // of all its parameters
  /// With dim 0 of every parameter padded to a multiple of the shard degree: what is really moved.
  std::int64_t padded_elements = 0;
  bool reshard_after_forward = false;
};

/// Groups in forward order. With the plan's reshard_after_forward, embedding and blocks are freed
/// after forward and the group that backward needs first is kept (torchtitan's policy «default»);
/// without it nothing is freed («never»).
std::vector<ParameterGroup> fsdp2_groups(const StepWork& work, const Plan& plan);

/// Elements of a parameter after its dim 0 is padded to a multiple of `shard`.
std::int64_t padded_count(const Parameter& parameter, int shard);

}  // namespace stepsim::workloads
