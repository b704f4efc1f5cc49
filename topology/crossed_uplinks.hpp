#pragma once

/// Which links between switches the traffic of a group of ranks crosses, and with how much.

#include "topology/fabric_graph.hpp"
#include "topology/link_load.hpp"

#include <vector>

namespace stepsim::topology {

/// One direction of the uplinks of a leaf or pod: of all together, since traffic spreads evenly
/// over them; with ECMP of a single uplink of a leaf.
struct Uplink {
  LinkClass link = LinkClass::leaf_uplink;
  bool inwards = false;  // from the spine down
  int place = 0;         // group of nodes under a leaf; pod
  int rail = 0;          // leaf of the group, when rail-optimised
  int path = 0;          // with ECMP: which
  friend auto operator<=>(const Uplink&, const Uplink&) = default;
};

struct CrossedUplink {
  Uplink uplink;
  /// What a ring of the group puts on it, in what it puts on one of the group's ports.
  double ports = 0;
};

/// How a group's messages are spread over equal paths where flows are hashed: a ring's few by the
/// hash, the many of an all-to-all evenly.
enum class Flows { few, many };

/// The uplinks that a ring around the nodes of the members, in order of nodes, crosses: those of
/// each leaf and pod between neighbours, both ways. What other algorithms put there is more or less
/// by uplink_ratio.
std::vector<CrossedUplink> crossed_uplinks(const Cluster& cluster, const FabricRoutes& routes,
                                           const std::vector<sim::Rank>& members, Flows flows);

/// The uplinks of one message from rank to rank, which leaves on the receiver's rail.
std::vector<CrossedUplink> crossed_uplinks(const Cluster& cluster, const FabricRoutes& routes,
                                           sim::Rank sender, sim::Rank receiver);

/// What an uplink carries, in ports' rates.
double capacity_in_ports(const Cluster& cluster, const Uplink& uplink);
/// Whether it can carry less than what is below it asks for: the others need no link in a job.
bool may_be_full(const Cluster& cluster, LinkClass uplink);

/// «uplinks of leaf 3 on rail 0», «uplink 5 of leaf 2, inwards»: for people.
std::string name_of(const Cluster& cluster, const Uplink& uplink);

/// Ports of its node that a rank is next to: several ranks may have one port, and one several.
std::vector<int> ports_next_to(const Cluster& cluster, sim::Rank rank);

}  // namespace stepsim::topology
