#pragma once

/// What an import saw in a box, before it is a node type. Private to topology.

#include "topology/import_node.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace stepsim::topology {

/// What lies between a port and the nearest GPU, the nearest first.
enum class Nearness { one_switch, switches, host_bridge, numa_node, system };

struct BoxGpu {
  std::string label;
  std::string pci_device;            // «0x2330»; empty when not known
  int compute_capability = 0;        // 0: not known
  int pcie_generation = 0;           // 0: not known
  std::map<std::size_t, int> peers;  // NVLinks to other GPUs, as far as the file says
  int switch_links = 0;              // NVLinks to switches
  int unseen_links = 0;              // NVLinks whose other end the file hides
};

struct BoxPort {
  std::string label;
  std::optional<Bandwidth> rate;
  Nearness nearest = Nearness::system;
};

struct Box {
  std::string file;
  std::vector<BoxGpu> gpus;
  std::vector<BoxPort> ports;
  bool shows_nvlink = true;  // false: a file that leaves NVLink out
  /// Between every two GPUs the file names the links of the path, which a switch may share.
  bool peers_are_paths = false;
  std::optional<CpuVendor> cpu;
  std::optional<double> socket_gb_per_s;  // as NCCL counts it
  std::vector<std::string> notes;
};

NodeImport node_from_box(const DataDirectory& data, Box box, const ImportChoices& choices);

}  // namespace stepsim::topology
