#include "scenarios/goodput.hpp"

#include "scenarios/counted_random.hpp"
#include "scenarios/parallel.hpp"
#include "scenarios/resolve_scenario.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

namespace stepsim::scenarios {

namespace {

constexpr double seconds_a_day = 86'400;
constexpr double seconds_a_year = 365.25 * seconds_a_day;

/// Shares while they are still seconds.
struct Spent {
  RunShares seconds;
  double now = 0;
  double end = 0;

  double left() const { return end - now; }
  void spend(double RunShares::*on, double time) {
    seconds.*on += time;
    now += time;
  }
};

/// Works and writes checkpoints until the next failure or the end. What is done at the end lasts.
void work_for(const LongRun& run, double until_failure, Spent& spent) {
  const bool fails = until_failure < spent.left();
  const double time = fails ? until_failure : spent.left();
  const double round = run.checkpoint_interval_s + run.checkpoint_write_s;
  const double rounds = std::floor(time / round);
  const double rest = time - rounds * round;
  spent.seconds.work += rounds * run.checkpoint_interval_s;
  spent.seconds.checkpoints += rounds * run.checkpoint_write_s;
  if (fails) {
    spent.seconds.lost += rest;
  } else {
    const double worked = std::min(rest, run.checkpoint_interval_s);
    spent.seconds.work += worked;
    spent.seconds.checkpoints += rest - worked;
  }
  spent.now += time;
}

RunShares shares_of(const RunShares& seconds, double length) {
  return {seconds.work / length, seconds.checkpoints / length, seconds.lost / length,
          seconds.restarts / length, seconds.failures};
}

RunShares mean_of(const std::vector<RunShares>& runs) {
  RunShares sum;
  for (double RunShares::*part : {&RunShares::work, &RunShares::checkpoints, &RunShares::lost,
                                  &RunShares::restarts, &RunShares::failures}) {
    for (const RunShares& run : runs) sum.*part += run.*part;
    sum.*part /= static_cast<double>(runs.size());
  }
  return sum;
}

/// Failures are simulated one by one: 20 millions take about a second.
bool check_failure_count(const ReliabilitySpec& reliability, const topology::Cluster& cluster,
                         KeyProblems& problems) {
  constexpr double most = 2e7;
  const double failures_of_a_run =
      *reliability.days * seconds_a_day / mean_time_between_failures_s(reliability, cluster);
  if (failures_of_a_run * *reliability.runs <= most) return true;
  problems.refuse("reliability",
                  "makes " + std::to_string(static_cast<std::int64_t>(failures_of_a_run)) +
                      " failures in each of " + std::to_string(*reliability.runs) + " runs",
                  "fewer failures, days or runs: at most 20 million failures in all");
  return false;
}

std::vector<RunShares> simulate_runs(const LongRun& run, const ReliabilitySpec& reliability,
                                     int threads) {
  std::vector<RunShares> runs(static_cast<std::size_t>(*reliability.runs));
  for_each_index(runs.size(), threads, [&](std::size_t i) {
    runs[i] = simulate_run(run, static_cast<std::uint64_t>(*reliability.seed), i);
  });
  return runs;
}

}  // namespace

RunShares simulate_run(const LongRun& run, std::uint64_t seed, std::uint64_t sequence) {
  std::uint64_t drawn = 0;
  const auto next_failure = [&] {
    return run.mean_time_between_failures_s * exponential_of(random_share(seed, sequence, drawn++));
  };
  Spent spent;
  spent.end = run.length_s;
  while (true) {
    work_for(run, next_failure(), spent);
    if (spent.left() <= 0) break;
    ++spent.seconds.failures;
    for (double failure = next_failure(); failure < run.restart_s; failure = next_failure()) {
      spent.spend(&RunShares::restarts, std::min(failure, spent.left()));
      if (spent.left() <= 0) break;
      ++spent.seconds.failures;
    }
    spent.spend(&RunShares::restarts, std::min(run.restart_s, std::max(0.0, spent.left())));
    if (spent.left() <= 0) break;
  }
  return shares_of(spent.seconds, run.length_s);
}

double young_interval_s(double mean_time_between_failures_s, double checkpoint_write_s) {
  return std::sqrt(2 * checkpoint_write_s * mean_time_between_failures_s);
}

double daly_interval_s(double mean_time_between_failures_s, double checkpoint_write_s) {
  const double ratio = checkpoint_write_s / (2 * mean_time_between_failures_s);
  if (ratio >= 1) return mean_time_between_failures_s;
  return young_interval_s(mean_time_between_failures_s, checkpoint_write_s) *
             (1 + std::sqrt(ratio) / 3 + ratio / 9) -
         checkpoint_write_s;
}

double mean_time_between_failures_s(const ReliabilitySpec& reliability,
                                    const topology::Cluster& cluster) {
  const double links =
      cluster.nodes == 1 ? 0 : static_cast<double>(cluster.nodes) * cluster.node.nics.value;
  const double failures_a_year = reliability.gpu_failures_per_year.value_or(0) * cluster.gpus +
                                 reliability.node_failures_per_year.value_or(0) * cluster.nodes +
                                 reliability.link_failures_per_year.value_or(0) * links;
  return seconds_a_year / failures_a_year;
}

Goodput goodput_of(const ReliabilitySpec& reliability, const topology::Cluster& cluster,
                   int threads) {
  Goodput goodput;
  LongRun& run = goodput.run;
  run.mean_time_between_failures_s = mean_time_between_failures_s(reliability, cluster);
  run.checkpoint_write_s = reliability.checkpoint_write->seconds();
  run.restart_s = reliability.restart->seconds();
  run.length_s = *reliability.days * seconds_a_day;
  goodput.young_interval_s =
      young_interval_s(run.mean_time_between_failures_s, run.checkpoint_write_s);
  goodput.daly_interval_s =
      daly_interval_s(run.mean_time_between_failures_s, run.checkpoint_write_s);
  goodput.interval_is_optimum = !reliability.checkpoint_interval;
  run.checkpoint_interval_s = reliability.checkpoint_interval
                                  ? reliability.checkpoint_interval->seconds()
                                  : goodput.daly_interval_s;
  goodput.runs = *reliability.runs;
  goodput.seed = static_cast<std::uint64_t>(*reliability.seed);
  std::vector<RunShares> runs = simulate_runs(run, reliability, threads);
  goodput.mean = mean_of(runs);
  std::sort(runs.begin(), runs.end(),
            [](const RunShares& a, const RunShares& b) { return a.work < b.work; });
  goodput.p10 = runs[(runs.size() + 9) / 10 - 1].work;
  goodput.p90 = runs[(runs.size() * 9 + 9) / 10 - 1].work;
  LongRun best = run;
  best.checkpoint_interval_s = goodput.daly_interval_s;
  goodput.at_daly_interval = mean_of(simulate_runs(best, reliability, threads)).work;
  return goodput;
}

bool resolve_reliability(const ScenarioSpec& spec, KeyProblems& problems, Scenario& scenario) {
  if (!spec.reliability) return true;
  if (!spec.reliability->readable) return false;
  ReliabilitySpec reliability = *spec.reliability;
  const double rates = reliability.gpu_failures_per_year.value_or(0) +
                       reliability.node_failures_per_year.value_or(0) +
                       reliability.link_failures_per_year.value_or(0);
  if (!(rates > 0)) {
    problems.refuse("reliability", "has no failure",
                    "gpu_failures_per_year, node_failures_per_year or link_failures_per_year "
                    "above 0");
    return false;
  }
  const bool links_only = reliability.gpu_failures_per_year.value_or(0) +
                              reliability.node_failures_per_year.value_or(0) <=
                          0;
  if (links_only && scenario.cluster.nodes == 1) {
    problems.refuse("reliability.link_failures_per_year",
                    "is the only failure, and one node uses no link between nodes",
                    "failures of GPUs or nodes");
    return false;
  }
  if (reliability.checkpoint_write->count_ps() <= 0) {
    problems.refuse("reliability.checkpoint_write", "takes no time", "more than 0 s");
    return false;
  }
  if (reliability.checkpoint_interval && reliability.checkpoint_interval->count_ps() <= 0) {
    problems.refuse("reliability.checkpoint_interval", "takes no time", "more than 0 s");
    return false;
  }
  if (!reliability.days) reliability.days = usual_run_days;
  if (!reliability.runs) reliability.runs = usual_runs;
  if (!reliability.seed) reliability.seed = 0;
  scenario.reliability = reliability;
  return check_failure_count(reliability, scenario.cluster, problems);
}

}  // namespace stepsim::scenarios
