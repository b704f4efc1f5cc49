#pragma once

/// A long run of steps on a cluster that fails: how much of its time is work that lasts.
///
/// Failures come at random, as many in a year as GPUs, nodes and links together have. A run works
/// for an interval, writes a checkpoint, and goes on. A failure, also while a checkpoint is
/// written, takes away what has been done since the last one that was written whole; then the run
/// restarts, which takes a fixed time and may fail itself. docs/stragglers.md has a worked example.

#include "scenarios/scenario.hpp"

#include <cstdint>
#include <vector>

namespace stepsim::scenarios {

/// Times in seconds.
struct LongRun {
  double mean_time_between_failures_s = 0;  // of the whole job
  double checkpoint_write_s = 0;            // that training waits for
  double checkpoint_interval_s = 0;         // of work between two
  double restart_s = 0;                     // from failure to work again
  double length_s = 0;                      // of the run, by the wall clock
};

/// What a run's time went to, as shares of its length, which sum to 1; and its failures.
struct RunShares {
  double work = 0;  // that lasted: the goodput
  double checkpoints = 0;
  double lost = 0;  // work and checkpoints that a failure took away
  double restarts = 0;
  double failures = 0;
};

/// One run, drawn from a counted sequence of random numbers.
RunShares simulate_run(const LongRun& run, std::uint64_t seed, std::uint64_t sequence);

/// The interval of work between checkpoints that loses least, by Daly's second-order formula (J. T.
/// Daly, FGCS 22 (2006) 303); the mean time between failures itself where a checkpoint takes more
/// than twice that.
double daly_interval_s(double mean_time_between_failures_s, double checkpoint_write_s);
/// By Young's first-order formula (J. W. Young, CACM 17 (1974) 530).
double young_interval_s(double mean_time_between_failures_s, double checkpoint_write_s);

struct Goodput {
  LongRun run;
  bool interval_is_optimum = false;  // the scenario leaves it open
  double young_interval_s = 0;
  double daly_interval_s = 0;
  int runs = 0;
  std::uint64_t seed = 0;
  RunShares mean;  // over the runs
  double p10 = 0;  // of the runs' goodput, by nearest rank
  double p90 = 0;
  double at_daly_interval = 0;  // mean goodput there, of the same failures
};

/// The mean time between failures of the scenario's cluster: one over its failures in a year.
double mean_time_between_failures_s(const ReliabilitySpec& reliability,
                                    const topology::Cluster& cluster);

/// Simulates as many runs as the block asks for, on up to `threads` threads, with the same result
/// for any number of them.
Goodput goodput_of(const ReliabilitySpec& reliability, const topology::Cluster& cluster,
                   int threads);

}  // namespace stepsim::scenarios
