#include "topology/cluster.hpp"

#include "sim/base/error.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace stepsim::topology {

namespace {

/// Half the ports of a 64-port switch go down to nodes.
constexpr int leaf_down_ports = 32;

std::map<int, int> members_by_node(const Cluster& cluster, const std::vector<sim::Rank>& members) {
  if (members.empty()) throw InternalError("a communicator without members has no shape");
  std::map<int, int> count;
  for (const sim::Rank rank : members) {
    if (rank.value >= static_cast<std::uint32_t>(cluster.gpus)) {
      throw InternalError("rank " + std::to_string(rank.value) + " is not in the cluster");
    }
    ++count[static_cast<int>(rank.value) / cluster.node.gpus];
  }
  return count;
}

bool in_one_nvlink_domain(const Node& node, const std::vector<sim::Rank>& members) {
  if (node.nvlink_domain == 0) return true;
  std::map<int, int> domain_of_node;
  for (const sim::Rank rank : members) {
    const int where = static_cast<int>(rank.value) / node.gpus;
    const int domain = static_cast<int>(rank.value) % node.gpus / node.nvlink_domain;
    if (domain_of_node.emplace(where, domain).first->second != domain) return false;
  }
  return true;
}

/// The fair part of a node's ports: those of its members, or a share of one. Every ring and tree
/// goes through every node, and NCCL takes the fewest channels that any node offers, so the node
/// with the fewest members decides.
void share_ports(const Cluster& cluster, int fewest_ranks_of_a_node, GroupShape& shape) {
  const int gpus = cluster.node.gpus;
  const int ports = cluster.node.nics.value;
  shape.nics_per_node = std::max(1, fewest_ranks_of_a_node * ports / gpus);
  if (fewest_ranks_of_a_node * ports < gpus) {
    shape.port_sharers = gpus / (fewest_ranks_of_a_node * ports);
  }
}

}  // namespace

int nodes_under_leaf(const Cluster& cluster) {
  if (cluster.fabric == FabricKind::single_switch) return std::max(1, cluster.nodes);
  if (cluster.nodes_per_leaf > 0) return cluster.nodes_per_leaf;
  if (cluster.fabric == FabricKind::rail_optimized) return leaf_down_ports;
  return std::max(1, leaf_down_ports / std::max(1, cluster.node.nics.value));
}

int port_millionths(const Cluster& cluster, int node) {
  const auto slow = cluster.slow_ports.find(node);
  return slow == cluster.slow_ports.end() ? usual_port_millionths : slow->second;
}

int leaf_groups_of(const Cluster& cluster) {
  const int under_leaf = nodes_under_leaf(cluster);
  return (std::max(1, cluster.nodes) + under_leaf - 1) / under_leaf;
}

int ports_of_leaf(const Cluster& cluster, int leaf_group) {
  const int under_leaf = nodes_under_leaf(cluster);
  const int nodes = std::clamp(cluster.nodes - leaf_group * under_leaf, 0, under_leaf);
  const bool rails = cluster.fabric == FabricKind::rail_optimized;
  return nodes * (rails ? 1 : cluster.node.nics.value);
}

int uplinks_of_leaf(const Cluster& cluster) {
  const double uplinks = ports_of_leaf(cluster, 0) / cluster.oversubscription;
  return std::max(1, static_cast<int>(uplinks + 0.5));
}

int pods_of(const Cluster& cluster) {
  if (cluster.nodes_per_pod <= 0) return 1;
  return (std::max(1, cluster.nodes) + cluster.nodes_per_pod - 1) / cluster.nodes_per_pod;
}

int ports_of_pod(const Cluster& cluster, int pod) {
  const int most = cluster.nodes_per_pod > 0 ? cluster.nodes_per_pod : cluster.nodes;
  return std::clamp(cluster.nodes - pod * most, 0, most) * cluster.node.nics.value;
}

GroupShape group_shape(const Cluster& cluster, const std::vector<sim::Rank>& members) {
  const std::map<int, int> by_node = members_by_node(cluster, members);
  const int under_leaf = nodes_under_leaf(cluster);
  GroupShape shape;
  shape.ranks = static_cast<int>(members.size());
  shape.nodes = static_cast<int>(by_node.size());
  shape.ranks_per_node = 0;
  int fewest_ranks_of_a_node = cluster.node.gpus;
  std::set<int> leaves;
  std::set<int> pods;
  for (const auto& [node, count] : by_node) {
    shape.ranks_per_node = std::max(shape.ranks_per_node, count);
    fewest_ranks_of_a_node = std::min(fewest_ranks_of_a_node, count);
    leaves.insert(node / under_leaf);
    if (cluster.nodes_per_pod > 0) pods.insert(node / cluster.nodes_per_pod);
  }
  shape.one_nvlink_domain = in_one_nvlink_domain(cluster.node, members);
  if (shape.nodes == 1) return shape;
  shape.leaves = static_cast<int>(leaves.size());
  shape.pods = std::max(1, static_cast<int>(pods.size()));
  share_ports(cluster, fewest_ranks_of_a_node, shape);
  for (const auto& [node, count] : by_node)
    shape.port_millionths = std::min(shape.port_millionths, port_millionths(cluster, node));
  return shape;
}

}  // namespace stepsim::topology
