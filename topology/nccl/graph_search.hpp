#pragma once

/// What NCCL's topology search finds on a node: how many channels each algorithm gets and at which
/// speed. NCCL searches paths on the real graph; on nodes whose GPUs all see each other alike (one
/// NVSwitch domain, or PCIe) the search packs as many channels of a speed as links have room for,
/// and that arithmetic is done here. Rules: NCCL 2.30.7, src/graph/search.cc, ncclTopoCompute.
///
/// Where this is simpler than NCCL: a tree keeps the speed of its first pass (NCCL may raise the
/// part inside a node), and trees between nodes take the simple pattern from compute capability 90
/// on and the balanced one before, which is what the search ends with on nodes with one port a GPU.

#include "topology/nccl/constants.hpp"

namespace stepsim::topology::nccl {

/// What the search needs to know of a node, in the units of NCCL. GB/s, one direction.
struct NodeLinks {
  Architecture architecture = Architecture::hopper;
  int compute_capability = 90;
  CpuVendor cpu = CpuVendor::intel;
  double nvlink = 0;  // one GPU, all its links; 0 without NVLink between all GPUs
  int nvlink_count = 0;
  double pcie = 0;    // one GPU
  double socket = 0;  // between the CPU sockets: what PCIe traffic between GPUs shares
  double port = 0;    // one network port, line rate
  bool in_switch_reduction = false;
};

/// Counts NVLinks and PCIe lanes as NCCL does: links times the constant of their generation.
NodeLinks node_links(const Node& node, const SearchTables& tables);

/// The members of a communicator, as the search sees them.
struct GroupLayout {
  int ranks = 1;
  int nodes = 1;
  int ranks_per_node = 1;  // of the fullest node
  int ports_per_node = 0;  // network ports its members may use
};

enum class TreePattern { balanced, simple };

struct ChannelGraph {
  int channels = 0;    // 0: the algorithm is not available
  double inside = 0;   // GB/s of one channel inside a node
  double between = 0;  // and between nodes
};

struct Graphs {
  ChannelGraph ring;
  ChannelGraph tree;
  TreePattern tree_pattern = TreePattern::balanced;
  ChannelGraph nvls;
  int collective_channels = 0;  // thread blocks of a ring or tree
  int nvls_channels = 0;        // thread blocks of NVLS and NVLSTree
};

Graphs search_graphs(const NodeLinks& links, const GroupLayout& group, const SearchTables& tables);

}  // namespace stepsim::topology::nccl
