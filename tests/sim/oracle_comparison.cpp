#include "tests/sim/oracle_comparison.hpp"

namespace stepsim::sim::testing {

bool same_times(const Job& job, const Execution& execution, const OracleResult& oracle) {
  if (execution.rank_end != oracle.rank_end) return false;
  for (std::uint32_t r = 0; r < job.ranks.size(); ++r) {
    const auto times = replay(job, execution, Rank{r});
    const Program& program = job.programs[job.ranks[r].program.index()];
    for (std::size_t i = 0; i < times.size(); ++i) {
      const OpKind kind = program.ops[i].kind;
      const bool runs = kind == OpKind::kernel || is_coupling_op(kind);
      if (runs && times[i].start != oracle.ops[r][i].start) return false;
      if ((runs || kind == OpKind::host_sync) && times[i].end != oracle.ops[r][i].end) return false;
    }
  }
  return true;
}

}  // namespace stepsim::sim::testing
