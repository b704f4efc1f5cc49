#include "scenarios/noise.hpp"

#include "scenarios/parallel.hpp"

#include "sim/program_builder.hpp"

#include "tests/scenarios/scenario_text.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <stdexcept>

using namespace stepsim;
using namespace stepsim::scenarios;

namespace {

/// One kernel of 1 ms, then a barrier, on so many ranks.
sim::Job barrier_job(std::uint32_t ranks) {
  sim::Job job;
  job.kernels = {
      {"k", "gemm", Time::zero(), Time::microseconds(1'000), sim::Clock::compute, false}};
  job.collectives = {{"all_reduce", "replicate", Bytes(4)}};
  job.collective_costs = {{{Time::zero(), Time::zero(), "ring", false}}};
  sim::ProgramBuilder b("step");
  const sim::StreamId stream = b.add_stream("default", sim::StreamKind::compute);
  const sim::SlotId slot = b.add_communicator_slot("replicate");
  b.kernel(stream, sim::KernelId{0}, {});
  b.collective(stream, slot, sim::CollectiveId{0}, {});
  job.programs.push_back(b.finish());
  job.communicators.push_back({"replicate", {}, 0});
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    job.communicators[0].members.push_back(sim::Rank{rank});
    job.ranks.push_back({sim::ProgramId{0}, {0}});
  }
  return job;
}

NoiseSpec noise_of(double kernel, double step, int seeds) {
  NoiseSpec noise;
  if (kernel > 0) noise.kernel = kernel;
  if (step > 0) noise.step = step;
  noise.seed = 11;
  noise.seeds = seeds;
  return noise;
}

}  // namespace

TEST_CASE("the pace of ranks is normal around 1") {
  constexpr int count = 100'000;
  constexpr std::uint32_t deviation = 20'000;
  double sum = 0;
  double squares = 0;
  int beyond_two = 0;
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    const double away = (noisy_pace_millionths(5, rank, deviation) - 1e6) / deviation;
    sum += away;
    squares += away * away;
    if (std::abs(away) > 2) ++beyond_two;
  }
  CHECK(sum / count == Approx(0).margin(0.01));
  CHECK(std::sqrt(squares / count) == Approx(1).epsilon(0.01));
  CHECK(beyond_two / double{count} == Approx(0.0455).epsilon(0.05));
}

TEST_CASE("ranks that meet take as long as the slowest of them") {
  // The mean of the largest of 64 normal numbers is 2.38 deviations (a table of order statistics).
  const StepDistribution steps = step_distribution(noise_of(0, 0.02, 400), barrier_job(64), {}, 1);
  CHECK(steps.mean.seconds() == Approx(1e-3 * (1 + 2.38 * 0.02)).epsilon(0.002));
  // One rank meets nobody.
  const StepDistribution alone = step_distribution(noise_of(0, 0.02, 400), barrier_job(1), {}, 1);
  CHECK(alone.mean.seconds() == Approx(1e-3).epsilon(0.005));
}

TEST_CASE("kernel noise stays within its share") {
  const StepDistribution steps = step_distribution(noise_of(0.1, 0, 200), barrier_job(8), {}, 1);
  CHECK(steps.most.seconds() <= 1.1e-3 * 1.0001);
  CHECK(steps.least.seconds() > 1e-3);
  // The mean of the largest of 8 even numbers in [0, 1] is 8/9.
  CHECK(steps.mean.seconds() == Approx(1e-3 * (0.9 + 0.2 * 8 / 9)).epsilon(0.005));
}

TEST_CASE("the distribution of steps is the same for any number of threads") {
  const NoiseSpec noise = noise_of(0.05, 0.01, 37);
  const StepDistribution one = step_distribution(noise, barrier_job(4), {}, 1);
  for (const int threads : {2, 5, 64}) {
    const StepDistribution other = step_distribution(noise, barrier_job(4), {}, threads);
    CHECK(other.mean == one.mean);
    CHECK(other.p10 == one.p10);
    CHECK(other.p50 == one.p50);
    CHECK(other.p90 == one.p90);
    CHECK(other.most == one.most);
    CHECK(other.median_seed == one.median_seed);
  }
}

TEST_CASE("percentiles go to the nearest rank") {
  std::vector<Time> times;
  for (const int ps : {50, 20, 90, 10, 80, 60, 30, 70, 40, 100})
    times.push_back(Time::picoseconds(ps));
  const StepDistribution steps = distribution_of(times, 100);
  CHECK(steps.mean == Time::picoseconds(55));
  CHECK(steps.p10 == Time::picoseconds(10));
  CHECK(steps.p50 == Time::picoseconds(50));
  CHECK(steps.p90 == Time::picoseconds(90));
  CHECK(steps.least == Time::picoseconds(10));
  CHECK(steps.most == Time::picoseconds(100));
  CHECK(steps.median_seed == 100);
  const StepDistribution single = distribution_of({Time::picoseconds(3)}, 4);
  CHECK(single.p10 == Time::picoseconds(3));
  CHECK(single.most == Time::picoseconds(3));
}

TEST_CASE("work on threads is done once each, and the first failure is thrown on") {
  for (const int threads : {1, 3, 20}) {
    std::vector<int> done(100);
    for_each_index(done.size(), threads, [&](std::size_t i) { ++done[i]; });
    CHECK(done == std::vector<int>(100, 1));
    try {
      for_each_index(10, threads, [](std::size_t i) {
        if (i >= 4) throw std::runtime_error(std::to_string(i));
      });
      FAIL("nothing was thrown");
    } catch (const std::runtime_error& error) {
      CHECK(std::string(error.what()) == "4");
    }
  }
}

TEST_CASE("noise says what varies, within what can be") {
  const auto complaint_of = [](const std::string& block) {
    return complaint(scenario_text({{4, "  nodes: 2\n  noise: " + block}}));
  };
  CHECK(complaint_of("{kernel: 0.05, step: 0.01, seed: 3, seeds: 10}") == "");
  CHECK(complaint_of("{seeds: 10}") ==
        "s.yaml:5:10: cluster.noise: does not say what varies (expected a key kernel or step)");
  CHECK(complaint_of("{kernel: 0.6}") ==
        "s.yaml:5:19: cluster.noise.kernel: is 0.6 (expected a number from 0 to 0.5)");
  CHECK(complaint_of("{kernel: 0.1, seeds: 0}") != "");
  CHECK(complaint_of("{kernel: 0.1, sede: 0}") != "");
}
