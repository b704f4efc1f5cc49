#pragma once

/// A cluster: some nodes of one type and the ranks on them. Rank r sits on GPU r mod gpus-per-node
/// of node r div gpus-per-node.

#include "topology/node.hpp"

#include "sim/ids.hpp"

#include <vector>

namespace stepsim::topology {

enum class FabricKind { single_switch, rail_optimized, fat_tree };

struct Cluster {
  Node node;
  int nodes = 1;
  int gpus = 8;  // in all; the last node may be partly used
  FabricKind fabric = FabricKind::rail_optimized;
  double oversubscription =
      1.0;  // uplink capacity is 1/oversubscription of what the leaves can ask
};

/// Where the members of a communicator sit: all a collective's cost depends on.
struct GroupShape {
  int ranks = 1;
  int nodes = 1;           // nodes that hold a member
  int ranks_per_node = 1;  // of the fullest node
  int nics_per_node =
      0;  // ports its members on one node may use: its fair part of the node's ports
  friend auto operator<=>(const GroupShape&, const GroupShape&) = default;
};

GroupShape group_shape(const Cluster& cluster, const std::vector<sim::Rank>& members);

}  // namespace stepsim::topology
