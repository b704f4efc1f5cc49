#include "workloads/fsdp2_wrapping.hpp"

#include <algorithm>
#include <optional>

namespace stepsim::workloads {
namespace {

bool contains(const std::vector<std::uint32_t>& list, std::uint32_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

bool share_a_parameter(const ParameterGroup& group, const Module& module) {
  return std::any_of(module.parameters.begin(), module.parameters.end(),
                     [&](std::uint32_t p) { return contains(group.parameters, p); });
}

void add_module(ParameterGroup& group, std::size_t module, const StepWork& work, int shard) {
  group.modules.push_back(module);
  for (const std::uint32_t p : work.modules[module].parameters) {
    if (contains(group.parameters, p)) continue;
    group.parameters.push_back(p);
    group.elements += work.parameters[p].count();
    group.padded_elements += padded_count(work.parameters[p], shard);
  }
}

}  // namespace

std::int64_t padded_count(const Parameter& parameter, int shard) {
  if (parameter.shape.empty()) return shard;
  const std::int64_t rows = parameter.shape.front();
  const std::int64_t chunk = (rows + shard - 1) / shard;
  return rows == 0 ? 0 : parameter.count() / rows * chunk * shard;
}

std::vector<ParameterGroup> fsdp2_groups(const StepWork& work, const Plan& plan) {
  std::vector<ParameterGroup> groups;
  for (std::size_t m = 0; m < work.modules.size(); ++m) {
    if (work.modules[m].parameters.empty()) continue;
    const auto tied = std::find_if(groups.begin(), groups.end(), [&](const ParameterGroup& group) {
      return share_a_parameter(group, work.modules[m]);
    });
    if (tied != groups.end()) {
      add_module(*tied, m, work, plan.shard);
      continue;
    }
    groups.emplace_back().name = work.modules[m].name;
    add_module(groups.back(), m, work, plan.shard);
  }
  for (ParameterGroup& group : groups) {
    const bool needed_first_in_backward = group.modules.back() + 1 == work.modules.size();
    group.reshard_after_forward = plan.reshard_after_forward && !needed_first_in_backward;
  }
  return groups;
}

}  // namespace stepsim::workloads
