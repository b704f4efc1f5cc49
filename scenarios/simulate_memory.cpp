#include "scenarios/simulate_memory.hpp"

#include "scenarios/cost_models.hpp"
#include "scenarios/memory_remedy.hpp"
#include "scenarios/range_problems.hpp"
#include "scenarios/simulate.hpp"

#include <optional>
#include <vector>

namespace stepsim::scenarios {

namespace {

Bytes needed(const workloads::MemoryReport& report) {
  return report.peak_reserved + report.outside;
}

MemoryResult memory_of(const workloads::StepInput& input, const workloads::Step& step,
                       const workloads::Step& memory_step) {
  MemoryResult result;
  std::vector<std::int64_t> ranks(step.job.programs.size(), 0);
  for (const sim::RankSetup& rank : step.job.ranks) ++ranks[rank.program.index()];
  for (std::uint32_t id = 0; id < step.job.programs.size(); ++id) {
    result.stages.push_back({step.job.programs[id].name, ranks[id],
                             workloads::report_memory(input, step, memory_step, {id})});
    const auto& fullest = result.stages[result.fullest].report;
    if (needed(result.stages.back().report) > needed(fullest)) result.fullest = id;
  }
  return result;
}

}  // namespace

workloads::MemoryReport fullest_stage(const DataDirectory& data, const Scenario& scenario) {
  const CostModels models(data, scenario);
  const workloads::StepInput input = models.input(scenario);
  const workloads::Step step = workloads::build_memory_step(input);
  return memory_of(input, step, step).report();
}

MemoryResult memory_with_remedy(const DataDirectory& data, const Scenario& scenario,
                                const workloads::StepInput& input, const workloads::Step& step) {
  // Long steps are replaced by one of fewer micro-batches, which takes the same memory.
  std::optional<workloads::Step> shorter;
  if (workloads::micro_batches(input.plan, input.training) >
      workloads::distinct_micro_batches(input.plan, input.training))
    shorter = workloads::build_memory_step(input);
  MemoryResult memory = memory_of(input, step, shorter ? *shorter : step);
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
