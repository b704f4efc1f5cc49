#include "topology/nvlink_shape.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/connected_components.hpp>

#include <algorithm>
#include <numeric>

namespace stepsim::topology {

namespace {

/// NVLinks of the SXM part of a generation.
int links_of_generation(const Device& device) {
  if (device.compute_capability >= 90) return 18;
  return device.compute_capability >= 80 ? 12 : 6;
}

bool is_pcie_card(const Device& device) { return device.name.find("pcie") != std::string::npos; }

/// Which connected part of the NVLink graph each GPU is in.
std::vector<int> nvlink_parts(const Box& box) {
  boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS> graph(box.gpus.size());
  for (std::size_t gpu = 0; gpu < box.gpus.size(); ++gpu) {
    for (const auto& [peer, links] : box.gpus[gpu].peers) boost::add_edge(gpu, peer, graph);
  }
  std::vector<int> part(box.gpus.size());
  boost::connected_components(graph, part.data());
  return part;
}

int links_to_peers(const BoxGpu& gpu) {
  return std::accumulate(gpu.peers.begin(), gpu.peers.end(), 0,
                         [](int sum, const auto& peer) { return sum + peer.second; });
}

/// Size of the parts when they are of one size and of consecutive GPUs; 0 when not.
int regular_part_size(const std::vector<int>& part) {
  const auto size = static_cast<std::size_t>(std::count(part.begin(), part.end(), part.front()));
  if (part.size() % size != 0) return 0;
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (part[i] != part[i / size * size]) return 0;
    if (i >= size && i % size == 0 && part[i] == part[i - 1]) return 0;
  }
  return static_cast<int>(size);
}

NvlinkShape only_some_joined(Box& box) {
  box.notes.push_back("NVLink joins only some of the GPUs: counted as PCIe");
  return {};
}

NvlinkShape switched(Box& box) {
  NvlinkShape shape{Interconnect::nvswitch, box.gpus.front().switch_links, 0, false};
  for (const BoxGpu& gpu : box.gpus) {
    if (gpu.switch_links == shape.links_of_a_gpu) continue;
    box.notes.push_back(gpu.label + " has " + std::to_string(gpu.switch_links) +
                        " NVLinks to switches and " + box.gpus.front().label + " " +
                        std::to_string(shape.links_of_a_gpu) + ": took the fewer");
    shape.links_of_a_gpu = std::min(shape.links_of_a_gpu, gpu.switch_links);
  }
  if (shape.links_of_a_gpu == 0) return only_some_joined(box);
  return shape;
}

/// Every GPU sees every other over the same number of links: through a switch, when a GPU has fewer
/// links than that takes.
bool is_switched_path(const Box& box, const Device& device) {
  const int links = box.gpus.front().peers.empty() ? 0 : box.gpus.front().peers.begin()->second;
  const auto others = static_cast<int>(box.gpus.size()) - 1;
  for (const BoxGpu& gpu : box.gpus) {
    if (static_cast<int>(gpu.peers.size()) != others) return false;
    for (const auto& [peer, count] : gpu.peers) {
      if (count != links) return false;
    }
  }
  return box.peers_are_paths && links * others > links_of_generation(device);
}

NvlinkShape joined_by_peers(Box& box, const Device& device) {
  if (is_switched_path(box, device)) {
    return {Interconnect::nvswitch, box.gpus.front().peers.begin()->second, 0, false};
  }
  const int size = regular_part_size(nvlink_parts(box));
  if (size <= 1) {
    return only_some_joined(box);
  }
  NvlinkShape shape{Interconnect::nvlink_mesh, links_to_peers(box.gpus.front()), 0, false};
  for (const BoxGpu& gpu : box.gpus) {
    shape.links_of_a_gpu = std::min(shape.links_of_a_gpu, links_to_peers(gpu));
  }
  if (shape.links_of_a_gpu == 0) return only_some_joined(box);
  if (size < static_cast<int>(box.gpus.size())) {
    shape.domain = size;
    box.notes.push_back("NVLink joins GPUs in groups of " + std::to_string(size) +
                        ": larger groups of ranks go over PCIe");
  }
  return shape;
}

/// The file leaves NVLink out: what the GPU type usually comes with.
NvlinkShape usual(Box& box, const Device& device) {
  if (is_pcie_card(device)) return {};
  const bool mesh = device.compute_capability < 80;
  box.notes.push_back("the file leaves NVLink out: took what " + device.name +
                      " usually comes with");
  return {mesh ? Interconnect::nvlink_mesh : Interconnect::nvswitch, links_of_generation(device), 0,
          true};
}

}  // namespace

NvlinkShape nvlink_shape(Box& box, const Device& device) {
  const BoxGpu& first = box.gpus.front();
  if (first.switch_links > 0) return switched(box);
  const bool any_peer = std::any_of(box.gpus.begin(), box.gpus.end(),
                                    [](const BoxGpu& gpu) { return !gpu.peers.empty(); });
  if (any_peer) return joined_by_peers(box, device);
  if (first.unseen_links > 0 && box.gpus.size() % 2 == 0) {
    box.notes.push_back("the file hides where NVLinks end: took bridges between pairs of GPUs");
    return {Interconnect::nvlink_mesh, first.unseen_links, 2, true};
  }
  if (!box.shows_nvlink) return usual(box, device);
  return {};
}

}  // namespace stepsim::topology
