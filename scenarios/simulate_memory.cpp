#include "scenarios/simulate_memory.hpp"

#include "scenarios/cost_models.hpp"
#include "scenarios/memory_remedy.hpp"
#include "scenarios/range_problems.hpp"
#include "scenarios/simulate.hpp"

#include <algorithm>

namespace stepsim::scenarios {

namespace {

Bytes needed(const workloads::MemoryReport& report) {
  return report.peak_reserved + report.outside;
}

}  // namespace

MemoryResult memory_of(const workloads::StepInput& input, const workloads::Step& step) {
  MemoryResult result;
  for (std::uint32_t id = 0; id < step.job.programs.size(); ++id) {
    const sim::ProgramId program{id};
    const auto runs_it = [&](const sim::RankSetup& rank) { return rank.program == program; };
    const auto ranks = std::count_if(step.job.ranks.begin(), step.job.ranks.end(), runs_it);
    result.stages.push_back(
        {step.job.programs[id].name, ranks, workloads::report_memory(input, step, program)});
    const auto& fullest = result.stages[result.fullest].report;
    if (needed(result.stages.back().report) > needed(fullest)) result.fullest = id;
  }
  return result;
}

workloads::MemoryReport fullest_stage(const DataDirectory& data, const Scenario& scenario) {
  const CostModels models(data, scenario);
  const workloads::StepInput input = models.input(scenario);
  return memory_of(input, workloads::build_memory_step(input)).report();
}

MemoryResult memory_with_remedy(const DataDirectory& data, const Scenario& scenario,
                                const workloads::StepInput& input, const workloads::Step& step) {
  MemoryResult memory = memory_of(input, step);
  if (!memory.report().fits) find_remedy(data, scenario, memory);
  return memory;
}

MemoryAnswer account_memory(const DataDirectory& data, const Scenario& scenario) {
  return within_range(scenario, [&] {
    const CostModels models(data, scenario);
    const workloads::StepInput input = models.input(scenario);
    const workloads::Step step = workloads::build_step(input);
    return MemoryAnswer{memory_with_remedy(data, scenario, input, step), models.profiles(scenario),
                        models.assumptions(scenario, step)};
  });
}

}  // namespace stepsim::scenarios
