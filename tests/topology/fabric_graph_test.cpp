#include "topology/fabric_graph.hpp"

#include "topology/crossed_uplinks.hpp"

#include "tests/support/catch.hpp"

#include <map>
#include <numeric>

using namespace stepsim;
using namespace stepsim::topology;

namespace {

Cluster cluster_of(const std::string& node, int nodes, FabricKind fabric) {
  Cluster cluster;
  cluster.node = load_node(DataDirectory::find(), node);
  cluster.nodes = nodes;
  cluster.gpus = nodes * cluster.node.gpus;
  cluster.fabric = fabric;
  return cluster;
}

/// Leaves of two nodes, pods of four.
Cluster three_tiers(FabricKind fabric) {
  Cluster cluster = cluster_of("dgx-h100", 8, fabric);
  cluster.nodes_per_leaf = 2;
  cluster.nodes_per_pod = 4;
  cluster.oversubscription = 2;
  cluster.pod_oversubscription = 7;
  return cluster;
}

std::vector<int> all_nodes(const Cluster& cluster) {
  std::vector<int> nodes(static_cast<std::size_t>(cluster.nodes));
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}

constexpr FabricKind kinds[] = {FabricKind::single_switch, FabricKind::rail_optimized,
                                FabricKind::fat_tree};

/// Parts of a kind that the message visits, each by its share.
double visits(const FabricGraph& graph, const std::vector<FabricGraph::Share>& shares,
              PartKind kind) {
  double sum = 0;
  for (const FabricGraph::Share& share : shares) {
    if (graph.parts()[graph.links()[share.link].to].kind == kind) sum += share.part;
  }
  return sum;
}

/// Bytes on the uplinks of each leaf or pod, outwards, of a message between every two neighbours of
/// a ring around all nodes, on every port.
std::map<std::pair<int, int>, double> bytes_up(const Cluster& cluster, PartKind from, PartKind to) {
  const FabricGraph graph(cluster, all_nodes(cluster));
  std::map<std::pair<int, int>, double> bytes;
  for (int node = 0; node < cluster.nodes; ++node) {
    for (int gpu = 0; gpu < cluster.node.gpus; ++gpu) {
      const int next = (node + 1) % cluster.nodes;
      for (const auto& share : graph.spread(graph.gpu(node, gpu), graph.gpu(next, gpu))) {
        const FabricLink& link = graph.links()[share.link];
        const FabricPart& part = graph.parts()[link.from];
        if (part.kind != from || graph.parts()[link.to].kind != to) continue;
        bytes[{part.place, from == PartKind::leaf ? part.number : 0}] += share.part;
      }
    }
  }
  return bytes;
}

}  // namespace

TEST_CASE("every part of every fabric reaches every other", "[fabric]") {
  for (const FabricKind kind : kinds) {
    for (const char* node : {"dgx-h100", "hgx-a100-4nic", "h100-pcie-box", "gb200-nvl72"}) {
      for (const int nodes : {1, 2, 5}) {
        INFO(node << " " << nodes);
        Cluster cluster = cluster_of(node, nodes, kind);
        cluster.nodes_per_leaf = 2;
        const FabricGraph graph(cluster, all_nodes(cluster));
        CHECK(graph.is_connected());
        for (const FabricLink& link : graph.links()) CHECK(link.gb_per_s > 0);
      }
    }
  }
}

TEST_CASE("a message crosses one switch below a leaf, three below a pod, five between pods",
          "[fabric]") {
  for (const FabricKind kind : {FabricKind::rail_optimized, FabricKind::fat_tree}) {
    const FabricRoutes routes(three_tiers(kind));
    const int nodes[] = {0, 1, 2, 4};
    const int switches[] = {0, 1, 3, 5};
    for (std::size_t i = 0; i < 4; ++i) {
      const Distance distance = routes.distance(0, nodes[i]);
      CHECK(static_cast<std::size_t>(distance) == i);
      CHECK(routes.switches(distance) == switches[i]);
      CHECK(routes.crosses_leaf(distance) == (i >= 2));
      CHECK(routes.crosses_pod(distance) == (i == 3));
    }
  }
}

TEST_CASE("a message spreads evenly over equal paths and loses nothing on the way", "[fabric]") {
  const Cluster cluster = three_tiers(FabricKind::fat_tree);
  const FabricGraph graph(cluster, {0, 5});
  const std::size_t from = graph.gpu(0, 3);
  const std::size_t to = graph.gpu(5, 6);
  std::vector<double> balance(graph.parts().size());
  std::map<PartKind, std::vector<double>> onto;
  for (const FabricGraph::Share& share : graph.spread(from, to)) {
    balance[graph.links()[share.link].from] -= share.part;
    balance[graph.links()[share.link].to] += share.part;
    onto[graph.parts()[graph.links()[share.link].to].kind].push_back(share.part);
  }
  for (std::size_t part = 0; part < balance.size(); ++part) {
    CHECK(balance[part] == Approx(part == from ? -1.0 : part == to ? 1.0 : 0.0).margin(1e-12));
  }
  CHECK(onto[PartKind::core].size() == 8);  // sixteen ports of a leaf over two
  for (const double part : onto[PartKind::core]) CHECK(part == Approx(1.0 / 8));
  CHECK(graph.spread(from, from).empty());
}

TEST_CASE("a message leaves on its receiver's rail where that spares it the spine", "[fabric]") {
  Cluster cluster = cluster_of("dgx-h100", 4, FabricKind::rail_optimized);
  cluster.nodes_per_leaf = 2;
  const FabricGraph graph(cluster, {0, 1});
  const auto shares = graph.spread(graph.gpu(0, 2), graph.gpu(1, 5));
  CHECK(visits(graph, shares, PartKind::spine) == 0);
  CHECK(visits(graph, shares, PartKind::nvswitch) == Approx(1));
  for (const FabricGraph::Share& share : shares) {
    const FabricPart& part = graph.parts()[graph.links()[share.link].to];
    if (part.kind == PartKind::leaf) CHECK(part.number == 5);
  }
  // Where all ports of a node are on one leaf there is nothing to spare.
  cluster.fabric = FabricKind::fat_tree;
  const FabricGraph tree(cluster, {0, 1});
  const auto direct = tree.spread(tree.gpu(0, 2), tree.gpu(1, 5));
  CHECK(visits(tree, direct, PartKind::nvswitch) == 0);
}

TEST_CASE("GPUs bridged in pairs reach others over PCIe, and sockets where they must", "[fabric]") {
  Cluster cluster = cluster_of("h100-pcie-box", 1, FabricKind::single_switch);
  cluster.node.interconnect = Interconnect::nvlink_mesh;
  cluster.node.nvlink_domain = 2;
  cluster.node.nvlink_bandwidth = cluster.node.pcie_bandwidth;
  const FabricGraph graph(cluster, {0});
  const auto pair = graph.spread(graph.gpu(0, 2), graph.gpu(0, 3));
  CHECK(pair.size() == 1);
  const auto near = graph.spread(graph.gpu(0, 0), graph.gpu(0, 3));
  CHECK(visits(graph, near, PartKind::pcie_switch) > 0);
  const auto far = graph.spread(graph.gpu(0, 0), graph.gpu(0, 7));
  CHECK(visits(graph, far, PartKind::socket) == Approx(2));
}

TEST_CASE("uplinks of a leaf and of a pod carry what is below them over the oversubscription",
          "[fabric]") {
  for (const FabricKind kind : {FabricKind::rail_optimized, FabricKind::fat_tree}) {
    const Cluster cluster = three_tiers(kind);
    const FabricGraph graph(cluster, all_nodes(cluster));
    std::map<std::pair<int, int>, double> of_leaf;
    std::map<int, double> of_pod;
    for (const FabricLink& link : graph.links()) {
      const FabricPart& from = graph.parts()[link.from];
      const PartKind to = graph.parts()[link.to].kind;
      if (to == PartKind::spine && from.kind == PartKind::leaf)
        of_leaf[{from.place, from.number}] += link.gb_per_s;
      if (to == PartKind::core) of_pod[from.place] += link.gb_per_s;
    }
    const double ports = kind == FabricKind::fat_tree ? 16 : 2;
    for (const auto& [leaf, gb_per_s] : of_leaf) CHECK(gb_per_s == Approx(50 * ports / 2));
    REQUIRE(of_pod.size() == 2);
    for (const auto& [pod, gb_per_s] : of_pod) CHECK(gb_per_s == Approx(50 * 32.0 / 7));
  }
}

TEST_CASE("a ring loads uplinks as its messages do when routed over the graph", "[fabric]") {
  for (const FabricKind kind : {FabricKind::rail_optimized, FabricKind::fat_tree}) {
    const Cluster cluster = three_tiers(kind);
    std::vector<sim::Rank> everyone;
    for (int i = 0; i < cluster.gpus; ++i) everyone.push_back({static_cast<std::uint32_t>(i)});
    auto leaves = bytes_up(cluster, PartKind::leaf, PartKind::spine);
    auto pods = bytes_up(cluster, PartKind::spine, PartKind::core);
    std::size_t compared = 0;
    for (const CrossedUplink& crossed :
         crossed_uplinks(cluster, FabricRoutes(cluster), everyone, Flows::few)) {
      if (crossed.uplink.inwards) continue;
      const bool leaf = crossed.uplink.link == LinkClass::leaf_uplink;
      const auto place = std::pair(crossed.uplink.place, crossed.uplink.rail);
      CHECK((leaf ? leaves : pods)[place] == Approx(crossed.ports));
      ++compared;
    }
    CHECK(compared == leaves.size() + pods.size());
  }
}

TEST_CASE("hashed flows are all there, each on one uplink, and the seed decides which",
          "[fabric]") {
  Cluster cluster = three_tiers(FabricKind::rail_optimized);
  std::vector<sim::Rank> everyone;
  for (int i = 0; i < cluster.gpus; ++i) everyone.push_back({static_cast<std::uint32_t>(i)});
  cluster.nodes_per_leaf = 4;
  cluster.nodes_per_pod = 0;
  cluster.oversubscription = 1;
  const FabricRoutes routes(cluster);
  const auto load = [&](Flows flows) {
    std::map<Uplink, double> ports;
    for (const CrossedUplink& crossed : crossed_uplinks(cluster, routes, everyone, flows))
      ports[crossed.uplink] += crossed.ports;
    return ports;
  };
  const auto even = load(Flows::few);
  cluster.ecmp_seed = 1;
  const auto hashed = load(Flows::few);
  cluster.ecmp_seed = 2;
  const auto otherwise = load(Flows::few);
  CHECK(hashed != otherwise);
  for (const auto& [uplink, ports] : even) {
    double sum = 0;
    for (const auto& [one, part] : hashed) {
      Uplink all = one;
      all.path = 0;
      if (all == uplink) sum += part;
    }
    CHECK(sum == Approx(ports));
  }
  for (const auto& [uplink, ports] : load(Flows::many)) CHECK(ports == Approx(1.0 / 4));
}
