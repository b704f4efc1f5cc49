#include "sim/kernel_pace.hpp"

#include "sim/rank_classes.hpp"

#include "sim/base/error.hpp"

#include "tests/sim/job_fixture.hpp"
#include "tests/support/catch.hpp"

#include <array>
#include <cmath>

using namespace stepsim;
using namespace stepsim::sim;
using namespace stepsim::sim::testing;

namespace {

/// A job of ranks that do nothing, with noise.
Job noisy_job(std::size_t ranks, Jitter jitter) {
  Job job;
  job.programs.emplace_back();
  for (std::size_t r = 0; r < ranks; ++r) job.ranks.push_back({ProgramId{0}, {}});
  job.jitter = jitter;
  return job;
}

}  // namespace

TEST_CASE("a kernel takes what it costs where nothing is declared") {
  const Job job = noisy_job(1, {});
  const KernelPace pace(job, Rank{0});
  CHECK(pace.is_usual());
  CHECK(pace.of(ps(1234), 7) == ps(1234));
  CHECK(pace.noise_65536ths(7) == Jitter::whole);
}

TEST_CASE("a slow rank's kernels are rounded up, then given their noise and rounded up again") {
  Job job = noisy_job(1, {9, 6'554});
  job.ranks[0].compute_time_millionths = 1'300'000;
  const KernelPace pace(job, Rank{0});
  const std::int64_t even = 1'606;  // 1,235 × 1.3 = 1,605.5
  const std::int64_t noise = pace.noise_65536ths(5);
  CHECK(pace.without_noise(ps(1'235)) == ps(even));
  CHECK(pace.of(ps(1'235), 5) == ps((even * noise + 65'535) / 65'536));
}

TEST_CASE("noise is the same on every machine and in every version") {
  const Job job = noisy_job(3, {1, 32'768});
  const auto factors = [&](std::uint32_t rank) {
    const KernelPace pace(job, Rank{rank});
    return std::array{pace.noise_65536ths(0), pace.noise_65536ths(1), pace.noise_65536ths(1000)};
  };
  CHECK(factors(0) == std::array{82'805U, 47'549U, 73'670U});
  CHECK(factors(2) == std::array{77'593U, 77'044U, 65'895U});
}

TEST_CASE("noise is uniform about one, and ops, ranks and seeds have nothing in common") {
  constexpr std::uint32_t spread = 6'554;
  constexpr std::uint32_t count = 20'000;
  const Job one = noisy_job(1001, {1, spread});
  const Job two = noisy_job(1, {2, spread});
  const KernelPace here(one, Rank{0});
  const std::array others = {KernelPace(one, Rank{1}), KernelPace(one, Rank{1000}),
                             KernelPace(two, Rank{0})};
  double sum = 0;
  double squares = 0;
  double with_next = 0;
  std::array<double, 3> with_others{};
  std::array<int, 8> in_eighth{};
  const auto deviation = [](const KernelPace& pace, std::uint32_t op) {
    return (pace.noise_65536ths(op) - double{Jitter::whole}) / spread;
  };
  for (std::uint32_t op = 0; op < count; ++op) {
    const double x = deviation(here, op);
    REQUIRE(std::abs(x) <= 1);
    sum += x;
    squares += x * x;
    with_next += x * deviation(here, op + 1);
    for (std::size_t i = 0; i < others.size(); ++i) with_others[i] += x * deviation(others[i], op);
    ++in_eighth[static_cast<std::size_t>((x + 1) * 3.9999)];
  }
  // Five standard deviations of each sum: a product of two has the variance 1/9, a square 4/45.
  const double root = std::sqrt(double{count});
  CHECK(std::abs(sum) < 5 * root / std::sqrt(3));
  CHECK(std::abs(squares - count / 3.0) < 5 * root * std::sqrt(4.0 / 45));
  CHECK(std::abs(with_next) < 5 * root / 3);
  for (const double product : with_others) CHECK(std::abs(product) < 5 * root / 3);
  for (const int in_this : in_eighth) CHECK(std::abs(in_this - int{count} / 8) < 5 * 47);
}

TEST_CASE("with noise no two ranks are of one class") {
  CHECK(find_classes(noisy_job(5, {})).count() == 1);
  CHECK(find_classes(noisy_job(5, {0, 1})).count() == 5);
}

TEST_CASE("noise that leaves a kernel no time is refused, and so is a time out of range") {
  Job job = noisy_job(1, {1, Jitter::whole});
  CHECK_THROWS_AS(check_job(job), InternalError);
  job.jitter.spread_65536ths = Jitter::whole - 1;
  CHECK_NOTHROW(check_job(job));
  const KernelPace pace(job, Rank{0});
  const auto all_take_the_longest = [&] {
    for (std::uint32_t op = 0; op < 100; ++op) pace.of(Time::max(), op);
  };
  CHECK_THROWS_AS(all_take_the_longest(), RangeError);
}
