/// Link loads against an explicit graph: every GPU, port, leaf and spine a vertex, every message of
/// an algorithm routed over it, bytes counted on every edge.

#include "topology/link_load.hpp"

#include "tests/support/catch.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/breadth_first_search.hpp>

#include <algorithm>
#include <map>

using namespace stepsim;
using namespace stepsim::topology;

namespace {

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
using Vertex = Graph::vertex_descriptor;

/// A fat tree: GPUs on a node's switch, the node by one port on its leaf, leaves on one spine.
class ExplicitFabric {
 public:
  ExplicitFabric(int nodes, int gpus, int nodes_per_leaf) : gpus_(gpus) {
    spine_ = boost::add_vertex(graph_);
    for (int node = 0; node < nodes; ++node) {
      if (node % nodes_per_leaf == 0) {
        leaves_.push_back(boost::add_vertex(graph_));
        join(leaves_.back(), spine_);
      }
      node_switches_.push_back(boost::add_vertex(graph_));
      join(node_switches_.back(), leaves_.back());
      for (int gpu = 0; gpu < gpus; ++gpu) {
        ranks_.push_back(boost::add_vertex(graph_));
        join(ranks_.back(), node_switches_.back());
      }
    }
  }

  void send(int from, int to, double bytes) {
    std::vector<Vertex> before(boost::num_vertices(graph_));
    const Vertex source = ranks_[static_cast<std::size_t>(from)];
    boost::breadth_first_search(graph_, source,
                                boost::visitor(boost::make_bfs_visitor(boost::record_predecessors(
                                    before.data(), boost::on_tree_edge()))));
    Vertex here = ranks_[static_cast<std::size_t>(to)];
    while (here != source) {
      bytes_[{before[here], here}] += bytes;
      here = before[here];
    }
    inside_ += from / gpus_ == to / gpus_ ? bytes : 0;
  }

  double out_of_node(std::size_t node) const { return sum(node_switches_[node], leaves_); }
  double out_of_leaf(std::size_t leaf) const { return sum(leaves_[leaf], {spine_}); }
  /// Mean over GPUs of what they send to others of their node.
  double inside_of_gpu() const { return inside_ / static_cast<double>(ranks_.size()); }
  int ranks() const { return static_cast<int>(ranks_.size()); }
  std::size_t nodes() const { return node_switches_.size(); }
  std::size_t leaves() const { return leaves_.size(); }

 private:
  void join(Vertex a, Vertex b) {
    boost::add_edge(a, b, graph_);
    boost::add_edge(b, a, graph_);
  }
  double sum(Vertex from, const std::vector<Vertex>& to) const {
    double bytes = 0;
    for (const Vertex vertex : to) {
      const auto edge = bytes_.find({from, vertex});
      if (edge != bytes_.end()) bytes += edge->second;
    }
    return bytes;
  }

  int gpus_;
  Graph graph_;
  Vertex spine_ = 0;
  std::vector<Vertex> leaves_;
  std::vector<Vertex> node_switches_;
  std::vector<Vertex> ranks_;
  std::map<std::pair<Vertex, Vertex>, double> bytes_;
  double inside_ = 0;
};

/// A collective of one byte in all.
void run_ring(ExplicitFabric& fabric, double passes) {
  const int ranks = fabric.ranks();
  for (int rank = 0; rank < ranks; ++rank) {
    fabric.send(rank, (rank + 1) % ranks, passes * (ranks - 1) / ranks);
  }
}

void run_all_to_all(ExplicitFabric& fabric) {
  for (int from = 0; from < fabric.ranks(); ++from) {
    for (int to = 0; to < fabric.ranks(); ++to) {
      if (from != to) fabric.send(from, to, 1.0 / fabric.ranks());
    }
  }
}

struct Case {
  int nodes;
  int gpus;
  int nodes_per_leaf;
};
const Case cases[] = {{1, 8, 4}, {2, 4, 1}, {4, 8, 2}, {6, 2, 3}, {8, 1, 2}};

Cluster cluster_of(const Case& c) {
  Cluster cluster;
  cluster.node.gpus = c.gpus;
  cluster.node.nics.value = c.gpus;
  cluster.nodes = c.nodes;
  cluster.gpus = c.nodes * c.gpus;
  cluster.fabric = FabricKind::fat_tree;
  cluster.nodes_per_leaf = c.nodes_per_leaf;
  return cluster;
}

GroupShape whole(const Cluster& cluster) {
  std::vector<sim::Rank> members;
  for (int i = 0; i < cluster.gpus; ++i) members.push_back({static_cast<std::uint32_t>(i)});
  return group_shape(cluster, members);
}

double share_of(const std::vector<LinkLoad>& loads, LinkClass link) {
  const auto found = std::find_if(loads.begin(), loads.end(),
                                  [&](const LinkLoad& load) { return load.link == link; });
  return found == loads.end() ? 0 : found->share;
}

void check_against(const ExplicitFabric& fabric, const std::vector<LinkLoad>& loads) {
  CHECK(share_of(loads, LinkClass::gpu) == Approx(fabric.inside_of_gpu()).margin(1e-12));
  for (std::size_t node = 0; node < fabric.nodes(); ++node) {
    CHECK(share_of(loads, LinkClass::port) == Approx(fabric.out_of_node(node)).margin(1e-12));
  }
  for (std::size_t leaf = 0; leaf < fabric.leaves(); ++leaf) {
    CHECK(share_of(loads, LinkClass::leaf_uplink) ==
          Approx(fabric.out_of_leaf(leaf)).margin(1e-12));
  }
}

}  // namespace

TEST_CASE("a ring loads every link as its messages do on an explicit graph", "[link_load]") {
  for (const Case& c : cases) {
    INFO(c.nodes << " nodes of " << c.gpus << ", " << c.nodes_per_leaf << " a leaf");
    const Cluster cluster = cluster_of(c);
    ExplicitFabric gather(c.nodes, c.gpus, c.nodes_per_leaf);
    run_ring(gather, 1);
    check_against(gather, link_loads(cluster, Collective::all_gather, "ring", whole(cluster), 50));
    ExplicitFabric reduce(c.nodes, c.gpus, c.nodes_per_leaf);
    run_ring(reduce, 2);
    check_against(reduce, link_loads(cluster, Collective::all_reduce, "ring", whole(cluster), 50));
  }
}

TEST_CASE("an all-to-all loads every link as its messages do on an explicit graph", "[link_load]") {
  for (const Case& c : cases) {
    INFO(c.nodes << " nodes of " << c.gpus << ", " << c.nodes_per_leaf << " a leaf");
    const Cluster cluster = cluster_of(c);
    ExplicitFabric fabric(c.nodes, c.gpus, c.nodes_per_leaf);
    run_all_to_all(fabric);
    check_against(
        fabric, link_loads(cluster, Collective::all_to_all, "point_to_point", whole(cluster), 50));
  }
}

TEST_CASE("what GPUs and ports send adds up to the volume of the algorithm", "[link_load]") {
  for (const Case& c : cases) {
    const Cluster cluster = cluster_of(c);
    const GroupShape group = whole(cluster);
    const auto loads = link_loads(cluster, Collective::all_reduce, "ring", group, 50);
    const double sent = group.ranks * share_of(loads, LinkClass::gpu) +
                        group.nodes * share_of(loads, LinkClass::port);
    CHECK(sent == Approx(2.0 * (group.ranks - 1)));
  }
}

TEST_CASE("the fair part of an uplink shrinks with its oversubscription", "[link_load]") {
  Cluster cluster = cluster_of({8, 8, 2});
  cluster.nodes_per_pod = 4;
  cluster.oversubscription = 2;
  cluster.pod_oversubscription = 7;
  const auto loads = link_loads(cluster, Collective::all_gather, "ring", whole(cluster), 50);
  REQUIRE(loads.size() == 4);
  CHECK(loads[1].link == LinkClass::port);
  CHECK(loads[1].gb_per_s == Approx(400));
  CHECK(loads[2].link == LinkClass::leaf_uplink);
  CHECK(loads[2].gb_per_s == Approx(400));  // two nodes' ports, halved
  CHECK(loads[3].link == LinkClass::pod_uplink);
  CHECK(loads[3].gb_per_s == Approx(1600.0 / 7));  // four nodes' ports over seven
}

TEST_CASE("a collective asks for at most its part of the ports, and for none on one node",
          "[link_load]") {
  Cluster cluster;
  cluster.node = load_node(DataDirectory::find(), "dgx-h100");
  cluster.nodes = 8;
  cluster.gpus = 64;
  const CollectiveModel model(DataDirectory::find(), cluster, "2.27.7");
  std::vector<sim::Rank> ranks;
  for (std::uint32_t rank = 0; rank < 64; ++rank) ranks.push_back({rank});
  const GroupShape all = group_shape(cluster, ranks);
  const GroupShape node = group_shape(cluster, {ranks.begin(), ranks.begin() + 8});
  const Bytes large(1'000'000'000);
  for (const Collective one : {Collective::all_gather, Collective::reduce_scatter}) {
    const sim::CollectiveCost cost = model.cost(one, large, all);
    CHECK(cost.rate > full_ports / 2);
    CHECK(cost.rate <= full_ports);
    // The rate is the bytes that leave a node over what its eight ports carry meanwhile.
    const double left = 63.0 / 64 * 1e9 / (8 * 50e9);
    CHECK(static_cast<double>(cost.rate) / full_ports <= 1.1 * left / cost.transfer.seconds());
    CHECK(model.cost(one, large, node).rate == 0);
  }
}
