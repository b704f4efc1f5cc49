#include "workloads/uplink_links.hpp"

#include "topology/collective.hpp"
#include "topology/crossed_uplinks.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

namespace stepsim::workloads {

namespace {

using topology::Flows;
using topology::LinkClass;

/// Loads are counted in whole parts of a port's traffic.
constexpr int parts_of_a_port = 64;

/// What a communicator's collectives put on uplinks for what a ring puts there.
struct Pattern {
  double leaf = 1;
  double pod = 1;
  Flows flows = Flows::few;
};

Pattern pattern_of(const sim::Job& job, std::uint32_t cost_row, const topology::GroupShape& group) {
  Pattern pattern;
  const std::vector<sim::CollectiveCost>& row = job.collective_costs[cost_row];
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i].rate == 0) continue;
    const auto collective = topology::collective_named(job.collectives[i].name);
    if (!collective) continue;
    const std::string algorithm = row[i].algorithm.substr(0, row[i].algorithm.find('/'));
    const auto ratio = [&](LinkClass uplink) {
      return topology::uplink_ratio(*collective, algorithm, group, uplink);
    };
    pattern.leaf = std::max(pattern.leaf, ratio(LinkClass::leaf_uplink));
    pattern.pod = std::max(pattern.pod, ratio(LinkClass::pod_uplink));
    if (*collective == topology::Collective::all_to_all) pattern.flows = Flows::many;
  }
  return pattern;
}

class UplinkLinks {
 public:
  UplinkLinks(const topology::Cluster& cluster, sim::Job& job)
      : cluster_(cluster), job_(job), routes_(cluster) {}

  void share_all() {
    std::vector<topology::GroupShape> shapes;
    for (const sim::Communicator& communicator : job_.communicators) {
      shapes.push_back(topology::group_shape(cluster_, communicator.members));
      if (shapes.back().leaves > 1) parts_ = std::lcm(parts_, shapes.back().port_sharers);
    }
    for (const sim::Channel& channel : job_.channels) {
      const topology::GroupShape shape =
          topology::group_shape(cluster_, {channel.sender, channel.receiver});
      channel_sharers_.push_back(shape.port_sharers);
      if (shape.leaves > 1) parts_ = std::lcm(parts_, shape.port_sharers);
    }
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (shapes[i].leaves > 1) add_communicator(job_.communicators[i], shapes[i]);
    }
    for (std::size_t i = 0; i < job_.channels.size(); ++i) {
      sim::Channel& channel = job_.channels[i];
      add(channel.links, crossed_uplinks(cluster_, routes_, channel.sender, channel.receiver),
          channel_sharers_[i], {});
    }
  }

 private:
  void add_communicator(sim::Communicator& communicator, const topology::GroupShape& shape) {
    const Pattern pattern = pattern_of(job_, communicator.cost_row, shape);
    add(communicator.links, crossed_uplinks(cluster_, routes_, communicator.members, pattern.flows),
        shape.port_sharers, pattern);
  }

  void add(std::vector<sim::LinkUse>& links, const std::vector<topology::CrossedUplink>& crossed,
           int port_sharers, const Pattern& pattern) {
    for (const topology::CrossedUplink& one : crossed) {
      const LinkClass kind = one.uplink.link;
      if (!topology::may_be_full(cluster_, kind)) continue;
      // Groups send as much each way; only hashing and messages tell the ways apart.
      if (one.uplink.inwards && !cluster_.ecmp_seed && job_.channels.empty()) continue;
      const double ratio = kind == LinkClass::pod_uplink ? pattern.pod : pattern.leaf;
      const double parts = one.ports * ratio * parts_of_a_port * parts_ / port_sharers;
      links.push_back(
          {link_of(one.uplink), static_cast<std::uint32_t>(std::max<long>(1, std::lround(parts)))});
    }
    std::sort(links.begin(), links.end());
  }

  sim::LinkId link_of(const topology::Uplink& uplink) {
    const auto next = static_cast<std::uint32_t>(job_.links.size());
    const auto [known, is_new] = known_.try_emplace(uplink, sim::LinkId{next});
    if (is_new) {
      const double ports = topology::capacity_in_ports(cluster_, uplink);
      const double capacity = ports * parts_of_a_port * parts_ * topology::full_ports;
      job_.links.push_back(
          {topology::name_of(cluster_, uplink), std::max<std::int64_t>(1, std::llround(capacity))});
    }
    return known->second;
  }

  const topology::Cluster& cluster_;
  sim::Job& job_;
  topology::FabricRoutes routes_;
  int parts_ = 1;
  std::vector<int> channel_sharers_;
  std::map<topology::Uplink, sim::LinkId> known_;
};

}  // namespace

bool shares_uplinks(const topology::Cluster& cluster) {
  if (topology::leaf_groups_of(cluster) == 1) return false;
  return topology::may_be_full(cluster, LinkClass::leaf_uplink) ||
         topology::may_be_full(cluster, LinkClass::pod_uplink);
}

void share_uplinks(const topology::Cluster& cluster, sim::Job& job) {
  if (shares_uplinks(cluster)) UplinkLinks(cluster, job).share_all();
}

}  // namespace stepsim::workloads
