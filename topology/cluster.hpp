#pragma once

/// A cluster: some nodes of one type, the ranks on them and the fabric between them. Rank r sits on
/// GPU r mod gpus-per-node of node r div gpus-per-node; node n hangs on leaf n div nodes-per-leaf.

#include "topology/node.hpp"

#include "sim/ids.hpp"

#include "sim/base/units.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace stepsim::topology {

enum class FabricKind {
  single_switch,   // every port sees every other at full rate
  rail_optimized,  // port i of every node on leaf switch i of its group of nodes
  fat_tree         // all ports of a node on one leaf switch
};

/// Line rate of a port that is what its type says, in millionths of it.
inline constexpr int usual_port_millionths = 1'000'000;

struct Cluster {
  Node node;
  int nodes = 1;
  int gpus = 8;  // in all; the last node may be partly used
  FabricKind fabric = FabricKind::rail_optimized;
  /// Uplink capacity is 1/oversubscription of what the ports of a leaf can ask for.
  double oversubscription = 1.0;
  /// Nodes under one leaf (or one group of rail leaves). 0: what 64-port switches with half their
  /// ports down give: 32 nodes when rail-optimised, 32 ports' worth of nodes in a fat tree.
  int nodes_per_leaf = 0;
  /// Nodes of a pod, between which there is another tier of switches. 0: no pods.
  int nodes_per_pod = 0;
  /// What the ports of a pod can ask for over what its uplinks carry.
  double pod_oversubscription = 1.0;
  /// Nodes whose ports carry less than their line rate: node, millionths of it.
  std::map<int, int> slow_ports{};
  /// Of a message between nodes, one way, beyond what NCCL's tables count for one.
  Time network_latency;
  /// With it, each flow takes one of its leaf's uplinks, by a hash of its ends and this seed;
  /// without, traffic spreads evenly over them.
  std::optional<std::uint32_t> ecmp_seed;
};

/// What each port of a node carries, in millionths of its line rate.
int port_millionths(const Cluster& cluster, int node);

/// nodes_per_leaf, with its default filled in; all nodes for a single switch.
int nodes_under_leaf(const Cluster& cluster);
/// Groups of nodes that hang on common leaves: a leaf each in a fat tree, one for each port of a
/// node when rail-optimised.
int leaf_groups_of(const Cluster& cluster);
/// Ports of nodes on one leaf of the group: those that are there, which in the last group may be
/// fewer.
int ports_of_leaf(const Cluster& cluster, int leaf_group);
/// Uplinks of a leaf, each of a port's rate: at least one.
int uplinks_of_leaf(const Cluster& cluster);
int pods_of(const Cluster& cluster);
int ports_of_pod(const Cluster& cluster, int pod);

/// Where the members of a communicator sit: all a collective's cost depends on.
struct GroupShape {
  int ranks = 1;
  int nodes = 1;           // nodes that hold a member
  int ranks_per_node = 1;  // of the fullest node
  /// Ports its members on one node may use: the fair part of the ports of the node that holds the
  /// fewest of them, at least one. 0 on one node.
  int nics_per_node = 0;
  /// Groups like this one that share one port when every GPU of the node is in one.
  int port_sharers = 1;
  int leaves = 1;  // leaf switches (or rail groups) that hold a member
  int pods = 1;    // pods that hold a member
  /// Members on a node are in one NVLink domain, if the node has NVLink at all.
  bool one_nvlink_domain = true;
  /// What the slowest port that the group passes carries, in millionths of its line rate.
  int port_millionths = usual_port_millionths;
  friend auto operator<=>(const GroupShape&, const GroupShape&) = default;
};

/// The shape of a group of ranks of the cluster, in any order. Throws InternalError when it is
/// empty or names a rank the cluster does not have.
GroupShape group_shape(const Cluster& cluster, const std::vector<sim::Rank>& members);

}  // namespace stepsim::topology
