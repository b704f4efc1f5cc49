#include "topology/crossed_uplinks.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace stepsim::topology {

namespace {

/// NCCL runs two channels through a port, each with a connection of its own.
constexpr int flows_of_a_port = 2;

/// A bijection of 64-bit words that spreads every bit (splitmix64).
std::uint64_t mixed(std::uint64_t word) {
  word += 0x9e3779b97f4a7c15U;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
  return word ^ (word >> 31);
}

class Crossings {
 public:
  Crossings(const Cluster& cluster, const FabricRoutes& routes, Flows flows)
      : cluster_(cluster), routes_(routes), flows_(flows), uplinks_(uplinks_of_leaf(cluster)) {}

  /// What a port of one node sends to a port on that rail of another.
  void add(int from, int to, int port) {
    const Distance distance = routes_.distance(from, to);
    if (routes_.crosses_leaf(distance)) add_leaf(from, to, port);
    if (routes_.crosses_pod(distance)) {
      add({LinkClass::pod_uplink, false, from / cluster_.nodes_per_pod, 0, 0}, 1);
      add({LinkClass::pod_uplink, true, to / cluster_.nodes_per_pod, 0, 0}, 1);
    }
  }

  std::vector<CrossedUplink> take() const {
    std::vector<CrossedUplink> list;
    for (const auto& [uplink, ports] : ports_) list.push_back({uplink, ports});
    return list;
  }

 private:
  void add(const Uplink& uplink, double ports) { ports_[uplink] += ports; }

  void add_leaf(int from, int to, int port) {
    const int under_leaf = nodes_under_leaf(cluster_);
    const int rail = cluster_.fabric == FabricKind::rail_optimized ? port : 0;
    Uplink up{LinkClass::leaf_uplink, false, from / under_leaf, rail, 0};
    Uplink down{LinkClass::leaf_uplink, true, to / under_leaf, rail, 0};
    const auto add_both = [&](int path, double ports) {
      up.path = down.path = path;
      add(up, ports);
      add(down, ports);
    };
    if (!cluster_.ecmp_seed) return add_both(0, 1);
    if (flows_ == Flows::many) {
      for (int path = 0; path < uplinks_; ++path) add_both(path, 1.0 / uplinks_);
      return;
    }
    for (int flow = 0; flow < flows_of_a_port; ++flow) {
      std::uint64_t hash = *cluster_.ecmp_seed;
      for (const int part : {from, to, port, flow}) {
        hash = mixed(hash + static_cast<std::uint64_t>(part));
      }
      add_both(static_cast<int>(hash % static_cast<std::uint64_t>(uplinks_)),
               1.0 / flows_of_a_port);
    }
  }

  const Cluster& cluster_;
  const FabricRoutes& routes_;
  Flows flows_;
  int uplinks_;
  std::map<Uplink, double> ports_;
};

int node_of(const Cluster& cluster, sim::Rank rank) {
  return static_cast<int>(rank.value) / cluster.node.gpus;
}

}  // namespace

std::vector<int> ports_next_to(const Cluster& cluster, sim::Rank rank) {
  const int gpus = cluster.node.gpus;
  const int ports = cluster.node.nics.value;
  const int place = static_cast<int>(rank.value) % gpus;
  const int first = place * ports / gpus;
  const int end = std::max(first + 1, (place + 1) * ports / gpus);
  std::vector<int> found;
  for (int port = first; port < end; ++port) found.push_back(port);
  return found;
}

std::vector<CrossedUplink> crossed_uplinks(const Cluster& cluster, const FabricRoutes& routes,
                                           const std::vector<sim::Rank>& members, Flows flows) {
  std::map<int, std::set<int>> ports;  // of each node
  for (const sim::Rank member : members) {
    for (const int port : ports_next_to(cluster, member))
      ports[node_of(cluster, member)].insert(port);
  }
  Crossings crossings(cluster, routes, flows);
  for (auto node = ports.begin(); node != ports.end(); ++node) {
    const auto next = std::next(node) == ports.end() ? ports.begin() : std::next(node);
    if (next == node) break;
    for (const int port : node->second) crossings.add(node->first, next->first, port);
  }
  return crossings.take();
}

std::vector<CrossedUplink> crossed_uplinks(const Cluster& cluster, const FabricRoutes& routes,
                                           sim::Rank sender, sim::Rank receiver) {
  Crossings crossings(cluster, routes, Flows::few);
  const std::vector<int> ports = ports_next_to(cluster, receiver);
  if (node_of(cluster, sender) == node_of(cluster, receiver)) return {};
  crossings.add(node_of(cluster, sender), node_of(cluster, receiver), ports.front());
  return crossings.take();
}

double capacity_in_ports(const Cluster& cluster, const Uplink& uplink) {
  if (uplink.link == LinkClass::pod_uplink) {
    return ports_of_pod(cluster, uplink.place) / cluster.pod_oversubscription;
  }
  const double all = ports_of_leaf(cluster, uplink.place) / cluster.oversubscription;
  return cluster.ecmp_seed ? all / uplinks_of_leaf(cluster) : all;
}

bool may_be_full(const Cluster& cluster, LinkClass uplink) {
  if (uplink == LinkClass::pod_uplink) return cluster.pod_oversubscription > 1;
  return uplink == LinkClass::leaf_uplink && (cluster.oversubscription > 1 || cluster.ecmp_seed);
}

std::string name_of(const Cluster& cluster, const Uplink& uplink) {
  const std::string direction = uplink.inwards ? ", inwards" : "";
  if (uplink.link == LinkClass::pod_uplink) {
    return "uplinks of pod " + std::to_string(uplink.place) + direction;
  }
  std::string name = cluster.ecmp_seed ? "uplink " + std::to_string(uplink.path) : "uplinks";
  name += " of leaf " + std::to_string(uplink.place);
  if (cluster.fabric == FabricKind::rail_optimized) {
    name += " on rail " + std::to_string(uplink.rail);
  }
  return name + direction;
}

}  // namespace stepsim::topology
