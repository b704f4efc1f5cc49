#include "topology/nccl/graph_search.hpp"

#include <algorithm>
#include <cmath>

namespace stepsim::topology::nccl {

namespace {

constexpr int most_ring_channels = 32;
constexpr int most_channels = 64;
constexpr int most_nvls_heads = 32;  // NCCL_MAX_NVLS_ARITY
/// The search stops when the next speed is this part of the best or less.
constexpr double lowest_speed_ratio = 0.49;

/// One search: the links it packs and the speeds it may give.
class Search {
 public:
  Search(const NodeLinks& links, const GroupLayout& group, const SearchTables& tables)
      : links_(links),
        group_(group),
        several_nodes_(group.nodes > 1),
        speeds_(entry_for(several_nodes_ ? tables.speeds_between_nodes : tables.speeds_inside_node,
                          links.compute_capability)) {}

  ChannelGraph ring() const;
  ChannelGraph tree(int channels, TreePattern& pattern) const;
  ChannelGraph nvls() const;

 private:
  /// What leaves a GPU towards the others of its node.
  double gpu_link() const { return links_.nvlink > 0 ? links_.nvlink : links_.pcie; }
  /// What one network port really takes: PCIe may be the narrower part.
  double port() const { return std::min(links_.port, links_.pcie); }
  double fastest_path() const {
    if (several_nodes_) return port();
    return links_.nvlink > 0 ? links_.nvlink : std::min(links_.pcie, links_.socket);
  }
  double gpu_total() const { return std::max(links_.pcie, links_.nvlink); }

  bool ports_carry(int channels, double speed) const;
  bool inside_carries(int channels, double speed, bool channel_ends_rotate) const;
  int most_ring_channels_at(double speed) const;
  void duplicate_channels(ChannelGraph& graph) const;
  void raise_ring(ChannelGraph& graph) const;
  bool nvls_carries(int channels, double speed) const {
    return (channels + 1) * speed <= links_.nvlink;
  }
  void raise_nvls(ChannelGraph& graph) const;

  const NodeLinks& links_;
  const GroupLayout& group_;
  bool several_nodes_;
  const std::vector<double>& speeds_;
};

bool Search::ports_carry(int channels, double speed) const {
  if (!several_nodes_) return true;
  const double channels_of_a_port = std::floor(port() / speed);
  return channels <= group_.ports_per_node * channels_of_a_port &&
         channels * speed <= group_.ranks_per_node * links_.pcie;
}

/// A channel enters and leaves a node through two of its GPUs. When each channel has its own, a GPU
/// carries one channel less for every channel that begins at it.
bool Search::inside_carries(int channels, double speed, bool channel_ends_rotate) const {
  const int begin_here =
      several_nodes_ && channel_ends_rotate ? channels / group_.ranks_per_node : 0;
  const bool alone = group_.ranks_per_node == 1;
  if (alone) return true;
  if (links_.nvlink > 0) return (channels - begin_here) * speed <= links_.nvlink;
  // Without NVLink every channel crosses the sockets once in each direction.
  return channels * speed <= std::min(links_.pcie, links_.socket);
}

int Search::most_ring_channels_at(double speed) const {
  int channels = 0;
  while (channels < most_ring_channels && ports_carry(channels + 1, speed) &&
         inside_carries(channels + 1, speed, true)) {
    ++channels;
  }
  return channels;
}

ChannelGraph Search::ring() const {
  ChannelGraph best;
  for (const double speed : speeds_) {
    if (speed > fastest_path() || speed > gpu_total()) continue;
    if (best.channels > 0 && speed <= lowest_speed_ratio * best.inside) break;
    const int channels = most_ring_channels_at(speed);
    if (channels * speed > best.channels * best.inside) best = {channels, speed, speed};
    if (best.channels * best.inside >= gpu_total()) break;
  }
  duplicate_channels(best);
  raise_ring(best);
  return best;
}

/// Two channels of half the speed keep more thread blocks busy (ncclTopoDupChannels).
void Search::duplicate_channels(ChannelGraph& graph) const {
  const bool enough_already =
      links_.compute_capability > 80 && graph.inside < 50 && graph.channels > 4;
  if (graph.channels == 0 || graph.inside < 25 || enough_already) return;
  const int channels = std::min(2 * graph.channels, most_ring_channels);
  const double factor = static_cast<double>(channels) / graph.channels;
  graph = {channels, graph.inside / factor, graph.between / factor};
}

void Search::raise_ring(ChannelGraph& graph) const {
  for (auto speed = speeds_.rbegin(); speed != speeds_.rend(); ++speed) {
    if (*speed <= graph.between || *speed > fastest_path()) continue;
    const int channels = most_ring_channels_at(*speed);
    if (channels >= graph.channels && channels * *speed > graph.channels * graph.inside) {
      graph = {channels, *speed, *speed};
    }
  }
}

/// A chain over the GPUs of a node, as many as there are rings.
ChannelGraph Search::tree(int channels, TreePattern& pattern) const {
  pattern = several_nodes_ && links_.compute_capability >= 90 ? TreePattern::simple
                                                              : TreePattern::balanced;
  const int gpus = group_.ranks_per_node;
  const double allowance = gpus > 1 ? static_cast<double>(gpus) / (gpus - 1) : 1;
  for (const double speed : speeds_) {
    if (speed > fastest_path() * allowance || channels * speed > gpu_total() * allowance) continue;
    if (ports_carry(channels, speed) &&
        inside_carries(channels, speed, pattern == TreePattern::simple)) {
      return {channels, speed, speed};
    }
  }
  return {};
}

/// One channel a GPU, each reduced at its head by the switch: a GPU moves every channel once and
/// its own twice.
ChannelGraph Search::nvls() const {
  const int gpus = group_.ranks_per_node;
  if (!links_.in_switch_reduction || links_.compute_capability < 90 || gpus <= 2) return {};
  const int heads = std::min(gpus, most_nvls_heads);
  const int channels = several_nodes_ ? std::min(heads, group_.ports_per_node) : heads;
  if (several_nodes_ && channels < 2) return {};
  for (const double speed : speeds_) {
    if (!nvls_carries(channels, speed) || !ports_carry(channels, speed)) continue;
    ChannelGraph graph = {channels, speed, speed};
    raise_nvls(graph);
    return graph;
  }
  return {};
}

/// The part between nodes may be up to twice as fast as the part inside.
void Search::raise_nvls(ChannelGraph& graph) const {
  const double most_between = several_nodes_ ? port() : speeds_.front();
  for (auto speed = speeds_.rbegin(); speed != speeds_.rend(); ++speed) {
    if (*speed <= graph.between) continue;
    if (graph.between >= 2 * graph.inside || *speed > most_between) break;
    graph.between = *speed;
  }
}

int collective_channels(const ChannelGraph& ring, const NodeLinks& links, bool several_nodes) {
  int channels = std::min(2 * ring.channels, most_channels);
  const bool few_fast_channels =
      links.compute_capability >= 90 && several_nodes && ring.inside > 45 && channels < 16;
  if (few_fast_channels) channels *= 2;
  return channels;
}

}  // namespace

NodeLinks node_links(const Node& node, const SearchTables& tables) {
  NodeLinks links;
  links.architecture = node.device.architecture;
  links.compute_capability = node.device.compute_capability;
  links.cpu = node.cpu;
  if (node.interconnect != Interconnect::pcie) {
    links.nvlink_count = node.nvlink_count.value;
    links.nvlink =
        node.nvlink_count.value * entry_for(tables.nvlink, node.device.compute_capability);
  }
  links.pcie = entry_for(tables.pcie, node.pcie_generation);
  links.socket = node.socket_bandwidth.value.gigabytes_per_second();
  links.port = node.nic_bandwidth.value.gigabytes_per_second();
  links.in_switch_reduction = node.in_switch_reduction;
  return links;
}

Graphs search_graphs(const NodeLinks& links, const GroupLayout& group, const SearchTables& tables) {
  const Search search(links, group, tables);
  Graphs graphs;
  graphs.ring = search.ring();
  if (graphs.ring.channels > 0) {
    graphs.tree = search.tree(graphs.ring.channels, graphs.tree_pattern);
  }
  graphs.nvls = search.nvls();
  graphs.collective_channels = collective_channels(graphs.ring, links, group.nodes > 1);
  if (graphs.nvls.channels > 0) {
    const auto& channels = entry_for(tables.nvls_channels, links.compute_capability);
    graphs.nvls_channels = channels[group.nodes > 1 ? 1 : 0];
  }
  return graphs;
}

}  // namespace stepsim::topology::nccl
