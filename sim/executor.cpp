#include "sim/executor.hpp"

#include "sim/compiled_program.hpp"
#include "sim/deadlock.hpp"
#include "sim/run_ahead.hpp"

#include <algorithm>
#include <utility>

namespace stepsim::sim {

Execution RunAhead::take_execution() {
  Execution execution;
  for (const RankState& state : ranks_) {
    std::int64_t end = state.host_ps;
    for (std::uint32_t s = 0; s < state.program->stream_count; ++s) {
      end = std::max(end, clocks_[state.first_clock + s]);
    }
    execution.rank_end.push_back(Time::picoseconds(end));
    execution.step_time = std::max(execution.step_time, execution.rank_end.back());
  }
  auto meetings = table_.take_meetings();
  const auto channels = meetings.begin() + static_cast<std::ptrdiff_t>(job_.communicators.size());
  execution.channel_meetings.assign(std::make_move_iterator(channels),
                                    std::make_move_iterator(meetings.end()));
  meetings.erase(channels, meetings.end());
  execution.communicator_meetings = std::move(meetings);
  for (const RankSetup& rank : job_.ranks) {
    execution.op_count += job_.programs[rank.program.index()].ops.size();
  }
  return execution;
}

Execution execute(const Job& job) {
  check_job(job);
  std::vector<CompiledProgram> programs;
  for (const Program& program : job.programs) programs.push_back(compile(job, program));
  RunAhead run(job, programs);
  if (!run.run()) throw DeadlockError(explain_deadlock(run));
  return run.take_execution();
}

}  // namespace stepsim::sim
