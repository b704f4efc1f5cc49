#include "scenarios/goodput.hpp"

#include "scenarios/counted_random.hpp"

#include "tests/scenarios/scenario_text.hpp"
#include "tests/support/catch.hpp"

#include <array>
#include <cmath>
#include <utility>

using namespace stepsim;
using namespace stepsim::scenarios;

namespace {

// Llama 3 405B: 419 unexpected interruptions in 54 days on 16,384 GPUs (arXiv 2407.21783, 3.3.4).
constexpr double llama3_between_failures_s = 54.0 * 86'400 / 419;

double waste(const LongRun& run) { return 1 - simulate_run(run, 1, 0).work; }

/// Mean time of a run over its work, when failures come at random (exponential times between).
double exact_goodput(const LongRun& run) {
  const double m = run.mean_time_between_failures_s;
  const double round = run.checkpoint_interval_s + run.checkpoint_write_s;
  return run.checkpoint_interval_s / (m * std::exp(run.restart_s / m) * (std::exp(round / m) - 1));
}

using Row = std::array<double, 5>;  // four unknowns and the right side

/// Least squares for a + b/t + c·t + d·t².
Row fitted(const std::vector<std::pair<double, double>>& points) {
  std::array<Row, 4> rows{};
  for (const auto& [t, value] : points) {
    const Row terms{1, 1 / t, t, t * t, value};
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = 0; j < 5; ++j) rows[i][j] += terms[i] * terms[j];
  }
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t r = 0; r < 4; ++r) {
      if (r == i) continue;
      const double factor = rows[r][i] / rows[i][i];
      for (std::size_t j = i; j < 5; ++j) rows[r][j] -= factor * rows[i][j];
    }
  }
  Row solution{};
  for (std::size_t i = 0; i < 4; ++i) solution[i] = rows[i][4] / rows[i][i];
  return solution;
}

/// Where the simulated waste is least, in multiples of the interval that Daly's formula gives: the
/// waste at eleven intervals, with the same failures, and the least of the curve through them.
double least_waste_at(LongRun run) {
  const double daly = daly_interval_s(run.mean_time_between_failures_s, run.checkpoint_write_s);
  run.length_s = 60'000 * run.mean_time_between_failures_s;
  std::vector<std::pair<double, double>> points;
  for (int tenths = 5; tenths <= 15; ++tenths) {
    run.checkpoint_interval_s = daly * tenths / 10;
    points.emplace_back(tenths / 10.0, waste(run));
  }
  const Row curve = fitted(points);
  double best = 0.5;
  const auto at = [&](double t) { return curve[1] / t + curve[2] * t + curve[3] * t * t; };
  for (double t = 0.5; t < 1.5; t += 0.001)
    if (at(t) < at(best)) best = t;
  return best;
}

}  // namespace

TEST_CASE("the logarithm by plain arithmetic is the logarithm") {
  for (double share = 1; share > 1e-16; share *= 0.93)
    CHECK(exponential_of(share) == Approx(-std::log(share)).epsilon(1e-15).margin(1e-16));
}

TEST_CASE("simulated waste is least where Young and Daly say") {
  CHECK(least_waste_at({llama3_between_failures_s, 30, 0, 300, 0}) == Approx(1).epsilon(0.02));
  CHECK(least_waste_at({3'600, 60, 0, 600, 0}) == Approx(1).epsilon(0.02));
  CHECK(least_waste_at({100'000, 10, 0, 300, 0}) == Approx(1).epsilon(0.02));
  // 3.09 h between failures and 30 s a checkpoint: 817 s by the first order, 797 s by the second.
  CHECK(young_interval_s(11'124, 30) == Approx(817).margin(0.5));
  CHECK(daly_interval_s(11'124, 30) == Approx(797).margin(0.5));
  CHECK(daly_interval_s(10, 30) == 10);  // a checkpoint takes longer than runs last
}

TEST_CASE("a long run keeps the mean goodput of the closed form") {
  for (const double interval : {200.0, 800.0, 4'000.0}) {
    LongRun run{llama3_between_failures_s, 30, interval, 300, 0};
    run.length_s = 50'000 * run.mean_time_between_failures_s;
    const RunShares shares = simulate_run(run, 7, 0);
    CHECK(shares.work == Approx(exact_goodput(run)).epsilon(0.005));
    CHECK(shares.work + shares.checkpoints + shares.lost + shares.restarts ==
          Approx(1).epsilon(1e-9));
    CHECK(shares.failures == Approx(50'000).epsilon(0.02));
  }
}

TEST_CASE("a run without a failure in its length loses nothing but checkpoints") {
  const RunShares shares = simulate_run({1e15, 10, 90, 300, 1'000}, 0, 0);
  CHECK(shares.work == Approx(0.9));
  CHECK(shares.checkpoints == Approx(0.1));
  CHECK(shares.failures == 0);
}

TEST_CASE("failures of GPUs, nodes and network ports add up") {
  topology::Cluster cluster;
  cluster.nodes = 4;
  cluster.gpus = 32;
  cluster.node.nics.value = 8;
  ReliabilitySpec reliability;
  reliability.gpu_failures_per_year = 0.5;
  reliability.node_failures_per_year = 2;
  reliability.link_failures_per_year = 0.25;
  const double year = 365.25 * 86'400;
  CHECK(mean_time_between_failures_s(reliability, cluster) == Approx(year / (16 + 8 + 8)));
  cluster.nodes = 1;
  cluster.gpus = 8;
  CHECK(mean_time_between_failures_s(reliability, cluster) == Approx(year / (4 + 2)));
}

TEST_CASE("goodput is the same for any number of threads") {
  const Scenario scenario = load_text(scenario_text() +
                                      "reliability: {gpu_failures_per_year: 100, checkpoint_write: "
                                      "30 s, restart: 5 min, days: 3}\n");
  REQUIRE(scenario.reliability);
  const Goodput one = goodput_of(*scenario.reliability, scenario.cluster, 1);
  const Goodput three = goodput_of(*scenario.reliability, scenario.cluster, 3);
  CHECK(one.mean.work == three.mean.work);
  CHECK(one.p10 == three.p10);
  CHECK(one.p10 < one.mean.work);
  CHECK(one.mean.work < one.p90);
  CHECK(one.interval_is_optimum);
  CHECK(one.at_daly_interval == one.mean.work);
}

TEST_CASE("a reliability block that says nothing, or too much, is refused at its place") {
  const auto complaint_of = [](const std::string& block) {
    return complaint(scenario_text() + "reliability: " + block + "\n");
  };
  const std::string times = "checkpoint_write: 30 s, restart: 5 min";
  CHECK(complaint_of("{gpu_failures_per_year: 0.2, " + times + "}") == "");
  CHECK(complaint_of("{" + times + "}") ==
        "s.yaml:13:14: reliability: has no failure (expected gpu_failures_per_year, "
        "node_failures_per_year or link_failures_per_year above 0)");
  CHECK(complaint_of("{gpu_failures_per_year: 0.2}") != "");
  CHECK(
      complaint_of("{gpu_failures_per_year: -1, " + times + "}") ==
      "s.yaml:13:38: reliability.gpu_failures_per_year: is -1 (expected a number from 0 to 1000)");
  CHECK(complaint_of("{gpu_failures_per_year: 1, checkpoint_write: 0 s, restart: 1 min}") ==
        "s.yaml:13:59: reliability.checkpoint_write: takes no time (expected more than 0 s)");
  CHECK(complaint_of("{gpu_failures_per_year: 1000, days: 3650, runs: 100000, " + times + "}")
            .find("in each of 100000 runs") != std::string::npos);
}
