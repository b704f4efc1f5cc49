#pragma once

/// A cluster as a graph: GPUs, NVSwitches, PCIe switches, CPU sockets, network ports, leaf, spine
/// and core switches, joined by links with a bandwidth and a latency in each direction. Only some
/// nodes are in it, with the switches they hang on: routes depend on how two nodes stand to each
/// other, so a few representatives tell those of all.

#include "topology/cluster.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace stepsim::topology {

enum class PartKind { gpu, nvswitch, pcie_switch, socket, port, leaf, spine, core };
const char* to_string(PartKind kind);

struct FabricPart {
  PartKind kind = PartKind::gpu;
  /// Of a node's parts the node; of a leaf the group of nodes under it; of a spine the pod; of a
  /// core 0.
  int place = 0;
  int number = 0;  // there
};

/// One direction of a link.
struct FabricLink {
  std::size_t from = 0;  // places in parts()
  std::size_t to = 0;
  double gb_per_s = 0;
  double latency_us = 0;
};

class FabricGraph {
 public:
  /// `nodes` of the cluster, each once. A leaf has one spine for each of its uplinks, 64 at most,
  /// and its uplinks together carry what its ports can ask for over the oversubscription.
  FabricGraph(const Cluster& cluster, const std::vector<int>& nodes);
  ~FabricGraph();
  FabricGraph(const FabricGraph&) = delete;
  FabricGraph& operator=(const FabricGraph&) = delete;

  const std::vector<FabricPart>& parts() const;
  const std::vector<FabricLink>& links() const;
  std::size_t gpu(int node, int number) const;

  /// Whether every part reaches every other.
  bool is_connected() const;

  struct Share {
    std::size_t link = 0;  // place in links()
    double part = 0;       // of the message
  };
  /// What a message puts on each link when it spreads evenly over all its shortest routes. A hop
  /// over NVLink counts half, so that a message leaves by the port on its receiver's rail (PXN)
  /// where that spares it the spine. Empty from a part to itself. Throws InternalError when nothing
  /// joins the two.
  std::vector<Share> spread(std::size_t from, std::size_t to) const;

 private:
  struct Graph;
  std::unique_ptr<Graph> graph_;
};

/// How far apart two nodes are.
enum class Distance { same_node, same_leaf, same_pod, other_pod };

/// What a message between nodes crosses, from routing one between representatives of each distance.
class FabricRoutes {
 public:
  explicit FabricRoutes(const Cluster& cluster);

  Distance distance(int node, int other) const;
  /// Whether a message between such nodes goes over a leaf's uplinks, or a pod's.
  bool crosses_leaf(Distance distance) const { return route(distance).crosses_leaf; }
  bool crosses_pod(Distance distance) const { return route(distance).crosses_pod; }
  /// Switches of the network on the way.
  int switches(Distance distance) const { return route(distance).switches; }

 private:
  struct Route {
    bool crosses_leaf = false;
    bool crosses_pod = false;
    int switches = 0;
  };
  const Route& route(Distance distance) const {
    return routes_[static_cast<std::size_t>(distance)];
  }

  int under_leaf_;
  int under_pod_;
  Route routes_[4];
};

}  // namespace stepsim::topology
