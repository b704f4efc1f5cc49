#pragma once

/// Node types as data: which GPUs, how they are joined inside the node, and the NICs that leave it.

#include "topology/device.hpp"

#include "sim/base/document.hpp"
#include "sim/base/object_reader.hpp"
#include "sim/base/sourced_number.hpp"
#include "sim/base/units.hpp"

#include <string>
#include <vector>

namespace stepsim::topology {

/// How the GPUs of a node (or rack) reach each other.
enum class Interconnect { nvswitch, nvlink_mesh, pcie };

enum class CpuVendor { intel, amd, arm };

struct Node {
  std::string name;  // «dgx-h100»
  std::string description;
  Device device;
  int gpus = 8;  // GPUs in one NVLink domain or PCIe box
  Interconnect interconnect = Interconnect::nvswitch;
  Sourced<Bandwidth>
      nvlink_bandwidth;       // one GPU, one direction, all links together; 0 without NVLink
  Sourced<int> nvlink_count;  // links a GPU
  /// GPUs joined by NVLink: consecutive ones in groups of this size (2 where bridges join pairs).
  /// 0: all of the node.
  int nvlink_domain = 0;
  Sourced<Bandwidth> pcie_bandwidth;  // one GPU, one direction
  int pcie_generation = 5;
  /// Between CPU sockets, one direction: what GPUs without NVLink share.
  Sourced<Bandwidth> socket_bandwidth;
  Sourced<int> nics;                 // network ports used for training
  Sourced<Bandwidth> nic_bandwidth;  // one port, one direction, line rate
  CpuVendor cpu = CpuVendor::intel;
  bool in_switch_reduction = false;  // NVLink SHARP (NVLS)
  std::string file;
  std::string hash;
};

/// Reads the keys of a node file from a block: a file of its own, or `cluster.node` of a scenario.
/// Problems are added to `problems`; the node returned is usable when there are none. An inline
/// block has no file: its hash is left empty.
Node read_node(const DataDirectory& data, const DocumentNode& block, const std::string& path,
               Diagnostics& problems);

/// Reads topology/nodes/NAME.yaml (which names its device). Throws InputError naming the nearest
/// node.
Node load_node(const DataDirectory& data, const std::string& name);
std::vector<std::string> node_names(const DataDirectory& data);

}  // namespace stepsim::topology
