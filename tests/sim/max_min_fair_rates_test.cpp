#include "sim/max_min_fair_rates.hpp"

#include "tests/sim/random_job.hpp"
#include "tests/support/catch.hpp"

using namespace stepsim;
using namespace stepsim::sim;
using namespace stepsim::sim::testing;

namespace {

struct Network {
  std::vector<std::int64_t> capacity;
  std::vector<std::vector<LinkUse>> links;
  std::vector<std::int64_t> own_rate;

  void add(std::int64_t rate, std::vector<LinkUse> uses) {
    own_rate.push_back(rate);
    links.push_back(std::move(uses));
  }

  std::vector<std::int64_t> rates() const {
    std::vector<MaxMinTransfer> transfers;
    for (std::size_t i = 0; i < links.size(); ++i) transfers.push_back({own_rate[i], links[i]});
    return MaxMin(capacity).rates(transfers);
  }
};

using Rates = std::vector<std::int64_t>;

constexpr LinkId a{0};
constexpr LinkId b{1};

}  // namespace

TEST_CASE("a transfer alone moves at its own rate, or at its link's") {
  Network n{{10}, {}, {}};
  n.add(7, {{a, 1}});
  CHECK(n.rates() == Rates{7});
  n.own_rate[0] = 20;
  CHECK(n.rates() == Rates{10});
  n.links[0] = {{a, 3}};  // it crosses the link three times
  CHECK(n.rates() == Rates{3});
}

TEST_CASE("what one transfer cannot use goes to the others") {
  // Capacity 12: the own rate of 3 leaves 9, which a crossing of two gets at 4 (8 of 9: rates are
  // whole).
  Network n{{12}, {}, {}};
  n.add(100, {{a, 2}});
  n.add(3, {{a, 1}});
  CHECK(n.rates() == Rates{4, 3});
}

TEST_CASE("the fullest link stops its transfers first") {
  // Link a (6) carries x and y, link b (10) carries y and z: x = y = 3, z = 7.
  Network n{{6, 10}, {}, {}};
  n.add(100, {{a, 1}});
  n.add(100, {{a, 1}, {b, 1}});
  n.add(100, {{b, 1}});
  CHECK(n.rates() == Rates{3, 3, 7});
}

TEST_CASE("a link with less than one unit for each gives one") {
  Network n{{1}, {}, {}};
  n.add(100, {{a, 1}});
  n.add(100, {{a, 1}});
  CHECK(n.rates() == Rates{1, 1});
}

TEST_CASE("no link is overfull, and every transfer is stopped by something") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    Network n;
    const std::uint32_t link_count = random.between(1, 5);
    for (std::uint32_t l = 0; l < link_count; ++l) n.capacity.push_back(random.between(100, 1000));
    for (std::uint32_t t = random.between(1, 8); t > 0; --t) {
      std::vector<LinkUse> uses;
      for (std::uint32_t l = 0; l < link_count; ++l) {
        if (random.one_in(2)) uses.push_back({LinkId{l}, random.between(1, 3)});
      }
      n.add(random.between(1, 500), uses);
    }
    const Rates rates = n.rates();
    std::vector<std::int64_t> load(link_count);
    std::vector<std::int64_t> crossings(link_count);
    for (std::size_t t = 0; t < rates.size(); ++t) {
      for (const LinkUse& use : n.links[t]) {
        load[use.link.index()] += rates[t] * use.times;
        crossings[use.link.index()] += use.times;
      }
    }
    for (std::size_t l = 0; l < link_count; ++l) REQUIRE(load[l] <= n.capacity[l]);
    for (std::size_t t = 0; t < rates.size(); ++t) {
      bool stopped = rates[t] == n.own_rate[t];
      for (const LinkUse& use : n.links[t]) {
        // Full up to what does not divide.
        const std::size_t l = use.link.index();
        stopped = stopped || n.capacity[l] - load[l] < crossings[l];
      }
      REQUIRE(stopped);
    }
  }
}
