#pragma once

// Clusters of shipped nodes, and groups on them.

#include "topology/collective.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace stepsim::topology {

inline DataDirectory shipped() { return DataDirectory(STEPSIM_SOURCE_DIRECTORY); }

inline Cluster cluster_of(const std::string& node, int nodes) {
  Cluster cluster;
  cluster.node = load_node(shipped(), node);
  cluster.nodes = nodes;
  cluster.gpus = nodes * cluster.node.gpus;
  return cluster;
}

/// `per_node` members on each of `nodes` nodes, evenly spread.
inline GroupShape group_of(const Cluster& cluster, int nodes, int per_node) {
  std::vector<sim::Rank> members;
  const int gpus = cluster.node.gpus;
  for (int node = 0; node < nodes; ++node) {
    for (int i = 0; i < per_node; ++i) {
      members.push_back(sim::Rank{static_cast<std::uint32_t>(node * gpus + i * (gpus / per_node))});
    }
  }
  return group_shape(cluster, members);
}

inline constexpr Collective all_collectives[] = {
    Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
    Collective::broadcast,  Collective::all_to_all, Collective::send_receive};

inline GroupShape group_for(const Cluster& cluster, Collective collective, int nodes) {
  if (collective != Collective::send_receive) return group_of(cluster, nodes, cluster.node.gpus);
  return nodes == 1 ? group_of(cluster, 1, 2) : group_of(cluster, 2, 1);
}

inline constexpr std::int64_t mebibyte = 1 << 20;

}  // namespace stepsim::topology
