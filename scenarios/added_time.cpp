#include "scenarios/added_time.hpp"

#include "scenarios/path_contributions.hpp"
#include "scenarios/slow_parts.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace stepsim::scenarios {

namespace {

const sim::Program& program_of(const sim::Job& job, const sim::PathStep& step) {
  return job.programs[job.ranks[step.rank.index()].program.index()];
}

/// The members of the communicator that the step's collective ran on, or both ends of the channel
/// of its message.
std::vector<sim::Rank> group_of(const sim::Job& job, const sim::PathStep& step) {
  const sim::Program& program = program_of(job, step);
  const sim::SlotId slot = program.ops[step.op].slot;
  const std::uint32_t bound = job.ranks[step.rank.index()].bindings[slot.index()];
  if (!program.slots[slot.index()].is_channel) return job.communicators[bound].members;
  return {job.channels[bound].sender, job.channels[bound].receiver};
}

sim::Clock kernel_clock(const sim::Job& job, const sim::PathStep& step) {
  return job.kernels[program_of(job, step).ops[step.op].target].clock;
}

}  // namespace

std::vector<AddedTime> added_times(const Scenario& scenario, const sim::Job& job,
                                   const sim::CriticalPath& path) {
  std::map<std::pair<std::string, sim::Clock>, Time> sums;
  for (const sim::PathStep& step : path.steps) {
    if (step.sharing > Time::zero())
      sums[{cause_of_sharing(job, step), sim::Clock::communication}] += step.sharing;
    if (step.slow_rank > Time::zero())
      sums[{slow_part_of_rank(scenario, step.rank), kernel_clock(job, step)}] += step.slow_rank;
    if (step.noise != Time::zero()) sums[{"noise", kernel_clock(job, step)}] += step.noise;
    if (step.slow_link > Time::zero())
      sums[{slow_part_of_group(scenario, group_of(job, step)), sim::Clock::communication}] +=
          step.slow_link;
  }
  std::vector<AddedTime> added;
  for (const auto& [key, time] : sums)
    if (time > Time::zero()) added.push_back({key.first, key.second, time});
  std::stable_sort(added.begin(), added.end(),
                   [](const AddedTime& a, const AddedTime& b) { return a.time > b.time; });
  return added;
}

}  // namespace stepsim::scenarios
