#include "topology/fabric_graph.hpp"

#include "sim/base/error.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/connected_components.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace stepsim::topology {

namespace {

/// Hops, in halves.
constexpr int nvlink_hop = 1;
constexpr int other_hop = 2;
/// Spines that stand for a leaf's uplinks: more are alike.
constexpr int most_spines = 64;

struct Hop {
  std::size_t link = 0;
};
using Edges =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, boost::no_property, Hop>;

double port_gb_per_s(const Node& node) {
  return std::min(node.nic_bandwidth.value, node.pcie_bandwidth.value).gigabytes_per_second();
}

}  // namespace

struct FabricGraph::Graph {
  using Key = std::tuple<PartKind, int, int>;

  std::vector<FabricPart> parts;
  std::vector<FabricLink> links;
  std::vector<int> lengths;  // of the links
  std::map<Key, std::size_t> known;
  Edges edges;

  std::size_t part(PartKind kind, int place, int number) {
    const auto [at, is_new] = known.try_emplace({kind, place, number}, parts.size());
    if (is_new) {
      parts.push_back({kind, place, number});
      boost::add_vertex(edges);
    }
    return at->second;
  }

  void join(std::size_t a, std::size_t b, double gb_per_s, double latency_us = 0,
            int length = other_hop) {
    for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
      boost::add_edge(from, to, {links.size()}, edges);
      links.push_back({from, to, gb_per_s, latency_us});
      lengths.push_back(length);
    }
  }
  std::vector<int> lengths_towards(std::size_t from, std::size_t to) const;

  void add_gpu_links(const Cluster& cluster, int node);
  void add_pcie(const Cluster& cluster, int node);
  void add_port(const Cluster& cluster, int node, int port);
  void add_uplinks(const Cluster& cluster, int leaf_group, int leaf);
};

const char* to_string(PartKind kind) {
  switch (kind) {
    case PartKind::gpu:
      return "GPU";
    case PartKind::nvswitch:
      return "NVSwitch";
    case PartKind::pcie_switch:
      return "PCIe switch";
    case PartKind::socket:
      return "CPU socket";
    case PartKind::port:
      return "port";
    case PartKind::leaf:
      return "leaf";
    case PartKind::spine:
      return "spine";
    case PartKind::core:
      return "core";
  }
  return "unknown";
}

void FabricGraph::Graph::add_gpu_links(const Cluster& cluster, int node) {
  const Node& type = cluster.node;
  const double nvlink = type.nvlink_bandwidth.value.gigabytes_per_second();
  const int domain = type.nvlink_domain > 0 ? type.nvlink_domain : type.gpus;
  for (int gpu = 0; gpu < type.gpus; ++gpu) {
    const std::size_t here = part(PartKind::gpu, node, gpu);
    if (type.interconnect == Interconnect::nvswitch) {
      join(here, part(PartKind::nvswitch, node, gpu / domain), nvlink, 0, nvlink_hop);
    } else if (type.interconnect == Interconnect::nvlink_mesh) {
      for (int other = gpu / domain * domain; other < gpu; ++other) {
        join(here, part(PartKind::gpu, node, other), nvlink / std::max(1, domain - 1), 0,
             nvlink_hop);
      }
    }
  }
}

/// A PCIe switch for every port and the GPUs next to it, half of the switches on each socket.
void FabricGraph::Graph::add_pcie(const Cluster& cluster, int node) {
  const Node& type = cluster.node;
  const double pcie = type.pcie_bandwidth.value.gigabytes_per_second();
  const int switches = std::min(type.gpus, type.nics.value);
  const int sockets = switches > 1 ? 2 : 1;
  for (int gpu = 0; gpu < type.gpus; ++gpu) {
    join(part(PartKind::gpu, node, gpu),
         part(PartKind::pcie_switch, node, gpu * switches / type.gpus), pcie);
  }
  for (int i = 0; i < switches; ++i) {
    join(part(PartKind::pcie_switch, node, i), part(PartKind::socket, node, i * sockets / switches),
         pcie);
  }
  if (sockets == 2) {
    join(part(PartKind::socket, node, 0), part(PartKind::socket, node, 1),
         type.socket_bandwidth.value.gigabytes_per_second());
  }
}

void FabricGraph::Graph::add_port(const Cluster& cluster, int node, int port) {
  const Node& type = cluster.node;
  const int switches = std::min(type.gpus, type.nics.value);
  const std::size_t here = part(PartKind::port, node, port);
  join(part(PartKind::pcie_switch, node, port * switches / type.nics.value), here,
       type.pcie_bandwidth.value.gigabytes_per_second());
  const int leaf_group = node / nodes_under_leaf(cluster);
  const int leaf = cluster.fabric == FabricKind::rail_optimized ? port : 0;
  const double carried =
      static_cast<double>(port_millionths(cluster, node)) / usual_port_millionths;
  join(here, part(PartKind::leaf, leaf_group, leaf), port_gb_per_s(type) * carried,
       1e6 * cluster.network_latency.seconds());
}

void FabricGraph::Graph::add_uplinks(const Cluster& cluster, int leaf_group, int leaf) {
  const int uplinks = std::min(uplinks_of_leaf(cluster), most_spines);
  const double of_leaf =
      port_gb_per_s(cluster.node) * ports_of_leaf(cluster, leaf_group) / cluster.oversubscription;
  const int first_node = leaf_group * nodes_under_leaf(cluster);
  const int pod = cluster.nodes_per_pod > 0 ? first_node / cluster.nodes_per_pod : 0;
  for (int i = 0; i < uplinks; ++i) {
    join(part(PartKind::leaf, leaf_group, leaf), part(PartKind::spine, pod, i), of_leaf / uplinks);
  }
  const auto core_is_joined = [&] { return known.contains({PartKind::core, pod, -1}); };
  if (pods_of(cluster) == 1 || core_is_joined()) return;
  known.emplace(Key{PartKind::core, pod, -1}, 0);
  const double of_pod =
      port_gb_per_s(cluster.node) * ports_of_pod(cluster, pod) / cluster.pod_oversubscription;
  for (int i = 0; i < uplinks; ++i) {
    join(part(PartKind::spine, pod, i), part(PartKind::core, 0, i), of_pod / uplinks);
  }
}

/// NVLink is for the way to the port: at the receiver it counts as any hop.
std::vector<int> FabricGraph::Graph::lengths_towards(std::size_t from, std::size_t to) const {
  std::vector<int> towards = lengths;
  if (parts[from].place == parts[to].place) return towards;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const FabricPart& end = parts[links[i].to];
    const bool inside = end.kind == PartKind::gpu || end.kind == PartKind::nvswitch;
    if (inside && end.place == parts[to].place) towards[i] = other_hop;
  }
  return towards;
}

FabricGraph::FabricGraph(const Cluster& cluster, const std::vector<int>& nodes)
    : graph_(std::make_unique<Graph>()) {
  for (const int node : nodes) {
    if (node < 0 || node >= cluster.nodes) throw InternalError("a node outside the cluster");
    graph_->add_gpu_links(cluster, node);
    graph_->add_pcie(cluster, node);
    if (cluster.nodes == 1) continue;
    for (int port = 0; port < cluster.node.nics.value; ++port) {
      graph_->add_port(cluster, node, port);
    }
  }
  if (leaf_groups_of(cluster) == 1) return;
  const std::vector<FabricPart> parts = graph_->parts;
  for (const FabricPart& part : parts) {
    if (part.kind == PartKind::leaf) graph_->add_uplinks(cluster, part.place, part.number);
  }
}

FabricGraph::~FabricGraph() = default;

const std::vector<FabricPart>& FabricGraph::parts() const { return graph_->parts; }
const std::vector<FabricLink>& FabricGraph::links() const { return graph_->links; }

std::size_t FabricGraph::gpu(int node, int number) const {
  const auto found = graph_->known.find({PartKind::gpu, node, number});
  if (found == graph_->known.end()) throw InternalError("a GPU outside the graph");
  return found->second;
}

bool FabricGraph::is_connected() const {
  boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS> undirected(
      graph_->parts.size());
  for (const FabricLink& link : graph_->links) boost::add_edge(link.from, link.to, undirected);
  std::vector<int> component(graph_->parts.size());
  return boost::connected_components(undirected, component.data()) <= 1;
}

std::vector<FabricGraph::Share> FabricGraph::spread(std::size_t from, std::size_t to) const {
  const Edges& edges = graph_->edges;
  const std::size_t count = graph_->parts.size();
  const std::vector<int> hops = graph_->lengths_towards(from, to);
  std::vector<int> length(count);
  boost::dijkstra_shortest_paths(
      edges, from,
      boost::distance_map(
          boost::make_iterator_property_map(length.begin(), boost::get(boost::vertex_index, edges)))
          .weight_map(
              boost::make_iterator_property_map(hops.begin(), boost::get(&Hop::link, edges))));
  std::vector<std::size_t> nearest_first(count);
  for (std::size_t i = 0; i < count; ++i) nearest_first[i] = i;
  std::sort(nearest_first.begin(), nearest_first.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(length[a], a) < std::pair(length[b], b);
  });
  constexpr int unreached = std::numeric_limits<int>::max();
  if (length[to] == unreached) throw InternalError("two parts of a fabric that nothing joins");
  const auto is_shortest = [&](const Edges::edge_descriptor& edge) {
    const int before = length[boost::source(edge, edges)];
    return before != unreached &&
           before + hops[edges[edge].link] == length[boost::target(edge, edges)];
  };
  std::vector<double> routes(count, 0);  // shortest ones to each part
  routes[from] = 1;
  for (const std::size_t part : nearest_first) {
    const auto [first, last] = boost::in_edges(part, edges);
    for (auto edge = first; edge != last; ++edge)
      if (is_shortest(*edge)) routes[part] += routes[boost::source(*edge, edges)];
  }
  std::vector<double> arriving(count, 0);  // of the message
  arriving[to] = 1;
  std::vector<Share> shares;
  for (auto part = nearest_first.rbegin(); part != nearest_first.rend(); ++part) {
    if (!(arriving[*part] > 0) || *part == from) continue;
    const auto [first, last] = boost::in_edges(*part, edges);
    for (auto edge = first; edge != last; ++edge) {
      if (!is_shortest(*edge)) continue;
      const std::size_t before = boost::source(*edge, edges);
      const double share = arriving[*part] * routes[before] / routes[*part];
      arriving[before] += share;
      shares.push_back({edges[*edge].link, share});
    }
  }
  return shares;
}

FabricRoutes::FabricRoutes(const Cluster& cluster)
    : under_leaf_(nodes_under_leaf(cluster)), under_pod_(cluster.nodes_per_pod) {
  // A node at each distance from node 0, where there is one.
  std::map<Distance, int> nodes;
  for (const int node : {1, under_leaf_, under_pod_}) {
    if (node > 0 && node < cluster.nodes) nodes.try_emplace(distance(0, node), node);
  }
  std::vector<int> all = {0};
  for (const auto& [apart, node] : nodes) all.push_back(node);
  const FabricGraph graph(cluster, all);
  for (const auto& [apart, node] : nodes) {
    Route& route = routes_[static_cast<std::size_t>(apart)];
    std::map<PartKind, double> visits;
    for (const FabricGraph::Share& share : graph.spread(graph.gpu(0, 0), graph.gpu(node, 0))) {
      visits[graph.parts()[graph.links()[share.link].to].kind] += share.part;
    }
    route.crosses_leaf = visits[PartKind::spine] > 0;
    route.crosses_pod = visits[PartKind::core] > 0;
    route.switches = static_cast<int>(visits[PartKind::leaf] + visits[PartKind::spine] +
                                      visits[PartKind::core] + 0.5);
  }
}

Distance FabricRoutes::distance(int node, int other) const {
  if (node == other) return Distance::same_node;
  if (under_pod_ > 0 && node / under_pod_ != other / under_pod_) return Distance::other_pod;
  return node / under_leaf_ == other / under_leaf_ ? Distance::same_leaf : Distance::same_pod;
}

}  // namespace stepsim::topology
