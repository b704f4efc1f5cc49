#include "topology/link_load.hpp"

#include <algorithm>

namespace stepsim::topology {

namespace {

/// What leaves one of `parts` equal parts of the group (its nodes, leaves or pods), as a multiple
/// of the collective's bytes.
double leaving_share(Collective collective, const std::string& algorithm, const GroupShape& group,
                     double parts) {
  const double ranks = group.ranks;
  const double around_the_ring = (ranks - 1) / ranks;
  switch (collective) {
    case Collective::all_reduce:
      if (algorithm == "ring") return 2 * around_the_ring;
      // The network's switches add what each part sends once.
      if (algorithm == "nvls" || algorithm.starts_with("collnet")) return 1;
      // A pair of trees: two parts only exchange; more send up and down, the root's share left out.
      return parts == 2 ? 1 : 2 * (parts - 1) / parts;
    case Collective::all_gather:
    case Collective::reduce_scatter:
      return around_the_ring;
    case Collective::all_to_all:  // every rank of the part, to every rank of the others
      return ranks / parts * (parts - 1) / parts;
    case Collective::broadcast:
    case Collective::send_receive:
      return 1;
  }
  return 1;
}

/// What one GPU sends to the others of its node, on average over the node's members.
double share_inside(Collective collective, const std::string& algorithm, const GroupShape& group) {
  const double ranks = group.ranks;
  const double per_node = group.ranks_per_node;
  if (per_node == 1) return 0;
  const double others = (per_node - 1) / per_node;
  const bool one_node = group.nodes == 1;
  // Of a ring's steps around a node, one goes to the next node.
  const double ring_steps_inside = one_node ? 1 : others;
  switch (collective) {
    case Collective::all_reduce:
      if (algorithm == "ring") return 2 * (ranks - 1) / ranks * ring_steps_inside;
      if (algorithm == "tree" || algorithm.starts_with("collnet")) return 2 * others;
      return (per_node + 1) / per_node;  // the switch reduces: once out, and once more by the head
    case Collective::all_gather:
    case Collective::reduce_scatter:
      return (ranks - 1) / ranks * ring_steps_inside;
    case Collective::all_to_all:
      return (per_node - 1) / ranks;
    case Collective::broadcast:
      return others;
    case Collective::send_receive:
      return one_node ? 1 : 0;
  }
  return 0;
}

}  // namespace

std::int64_t rate_of_ports(int millionths) {
  return std::max<std::int64_t>(1, full_ports * millionths / usual_port_millionths);
}

const char* to_string(LinkClass link) {
  switch (link) {
    case LinkClass::gpu:
      return "gpu";
    case LinkClass::port:
      return "port";
    case LinkClass::leaf_uplink:
      return "leaf uplink";
    case LinkClass::pod_uplink:
      return "pod uplink";
  }
  return "unknown";
}

std::vector<LinkLoad> link_loads(const Cluster& cluster, Collective collective,
                                 const std::string& algorithm, const GroupShape& group,
                                 double port_gb_per_s, UplinkPart part) {
  std::vector<LinkLoad> loads;
  const double inside = share_inside(collective, algorithm, group);
  if (inside > 0) loads.push_back({LinkClass::gpu, inside, 0});
  if (group.nodes == 1) return loads;
  const double of_a_node = group.nics_per_node * port_gb_per_s / group.port_sharers;
  const auto add = [&](LinkClass link, double parts, double gb_per_s) {
    if (parts <= 1) return;
    loads.push_back({link, leaving_share(collective, algorithm, group, parts), gb_per_s});
  };
  const auto fair_part = [&](double parts, double oversubscription) {
    return of_a_node * (group.nodes / parts) / oversubscription;
  };
  double of_leaf = fair_part(group.leaves, cluster.oversubscription);
  double of_pod = fair_part(group.pods, cluster.pod_oversubscription);
  if (part == UplinkPart::whole) {
    const int rails = cluster.fabric == FabricKind::rail_optimized ? group.nics_per_node : 1;
    of_leaf = rails * ports_of_leaf(cluster, 0) * port_gb_per_s / cluster.oversubscription;
    of_pod = ports_of_pod(cluster, 0) * port_gb_per_s / cluster.pod_oversubscription;
  }
  add(LinkClass::port, group.nodes, of_a_node);
  add(LinkClass::leaf_uplink, group.leaves, of_leaf);
  add(LinkClass::pod_uplink, group.pods, of_pod);
  return loads;
}

double uplink_ratio(Collective collective, const std::string& algorithm, const GroupShape& group,
                    LinkClass uplink) {
  const int parts = uplink == LinkClass::pod_uplink ? group.pods : group.leaves;
  if (parts <= 1 || group.nodes <= 1) return 0;
  return leaving_share(collective, algorithm, group, parts) /
         leaving_share(collective, algorithm, group, group.nodes);
}

}  // namespace stepsim::topology
