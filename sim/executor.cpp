#include "sim/executor.hpp"

#include "sim/compiled_program.hpp"
#include "sim/deadlock.hpp"
#include "sim/population.hpp"
#include "sim/run_ahead_executor.hpp"
#include "sim/sharing_executor.hpp"

#include "sim/base/error.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace stepsim::sim {

namespace {

std::vector<CompiledProgram> compile_all(const Job& job) {
  std::vector<CompiledProgram> programs;
  programs.reserve(job.programs.size());
  for (const Program& program : job.programs) programs.push_back(compile(job, program));
  return programs;
}

std::uint64_t count_ops(const Job& job) {
  std::uint64_t count = 0;
  for (const RankSetup& rank : job.ranks) count += job.programs[rank.program.index()].ops.size();
  return count;
}

/// Takes over what a run of every rank has found.
template <class Run>
void take_every_rank(const Job& job, Run& run, Execution& execution) {
  for (std::uint32_t r = 0; r < job.ranks.size(); ++r) {
    execution.rank_end.push_back(run.end_of(ParticipantId{r}));
  }
  execution.meetings = run.take_meetings();
  execution.meetings_of_communicator.resize(job.communicators.size());
  execution.meetings_of_channel.resize(job.channels.size());
  std::iota(execution.meetings_of_communicator.begin(), execution.meetings_of_communicator.end(),
            0U);
  std::iota(execution.meetings_of_channel.begin(), execution.meetings_of_channel.end(),
            static_cast<std::uint32_t>(job.communicators.size()));
  execution.simulated_ranks = static_cast<std::uint32_t>(job.ranks.size());
}

/// Takes over what a run of one rank of each class has found.
template <class Run>
void take_classes(const Population& population, Run& run, Execution& execution) {
  const Classes& classes = execution.classes;
  for (const ClassId of_rank : classes.of_rank) {
    execution.rank_end.push_back(run.end_of(ParticipantId{of_rank.value}));
  }
  execution.meetings = run.take_meetings();
  execution.meetings_of_communicator = classes.of_communicator;
  for (const std::uint32_t channel : classes.of_channel) {
    execution.meetings_of_channel.push_back(population.communicator_count + channel);
  }
  execution.simulated_ranks = static_cast<std::uint32_t>(classes.count());
}

/// Who waits for whom does not depend on how long things take, so the plain executor explains it.
[[noreturn]] void throw_deadlock(const Job& job, const std::vector<CompiledProgram>& programs,
                                 const Population& population) {
  RunAhead run(job, programs, population);
  if (run.run()) throw InternalError("only one of two executors finds a job stuck");
  throw DeadlockError(explain_deadlock(run));
}

template <class Run>
void run_every_rank(const Job& job, const std::vector<CompiledProgram>& programs,
                    Execution& execution) {
  const Population population = every_rank(job, execution.classes);
  Run run(job, programs, population);
  if (!run.run()) throw_deadlock(job, programs, population);
  take_every_rank(job, run, execution);
}

/// Returns false when the job is stuck: who waits for whom is then better said of ranks than of
/// classes.
template <class Run>
bool run_one_of_each_class(const Job& job, const std::vector<CompiledProgram>& programs,
                           Execution& execution) {
  const Population population = one_of_each_class(job, execution.classes);
  std::optional<Run> run;
  try {
    run.emplace(job, programs, population);
  } catch (const DeadlockError&) {
    return false;
  }
  if (!run->run()) return false;
  take_classes(population, *run, execution);
  return true;
}

template <class Run>
void run(const Job& job, const std::vector<CompiledProgram>& programs, bool fold,
         Execution& execution) {
  if (fold && run_one_of_each_class<Run>(job, programs, execution)) return;
  run_every_rank<Run>(job, programs, execution);
}

/// With more classes than this, executing every rank is about as quick.
bool folding_pays(const Job& job, const Classes& classes) {
  return 4 * classes.count() <= 3 * job.ranks.size();
}

}  // namespace

const std::vector<Meeting>& Execution::of_slot(const Job& job, Rank rank, SlotId slot) const {
  const RankSetup& setup = job.ranks[rank.index()];
  const std::uint32_t bound = setup.bindings[slot.index()];
  const bool is_channel = job.programs[setup.program.index()].slots[slot.index()].is_channel;
  return is_channel ? of_channel(bound) : of_communicator(bound);
}

Execution execute(const Job& job, const ExecutionOptions& options) {
  check_job(job);
  const std::vector<CompiledProgram> programs = compile_all(job);
  Execution execution;
  execution.classes = find_classes(job);
  execution.op_count = count_ops(job);
  const bool fold = options.folding != Folding::off && folding_pays(job, execution.classes);
  if (shares_resources(job)) {
    run<SharingRun>(job, programs, fold, execution);
  } else {
    run<RunAhead>(job, programs, fold, execution);
  }
  for (const Time end : execution.rank_end)
    execution.step_time = std::max(execution.step_time, end);
  return execution;
}

}  // namespace stepsim::sim
