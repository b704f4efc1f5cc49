#pragma once

/// A second executor, written to be obviously right rather than fast: it goes from instant to
/// instant, lets hosts, streams and communicators do whatever they can until nothing changes, then
/// finds every speed and rate anew and goes to the next instant at which something ends.

#include "sim/job.hpp"

#include <optional>
#include <vector>

namespace stepsim::sim::testing {

struct OracleTimes {
  Time start;
  Time end;
};

/// Start and end of every kernel, collective, send and receive, and end of every host sync: indexed
/// by rank and op. Other ops have zeros. Nothing when the job can never finish.
struct OracleResult {
  std::vector<std::vector<OracleTimes>> ops;
  std::vector<Time> rank_end;
};

std::optional<OracleResult> oracle_execute(const Job& job);

}  // namespace stepsim::sim::testing
