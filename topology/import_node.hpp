#pragma once

/// A node type from a user's real box: what NCCL dumps about it, or what nvidia-smi prints. Neither
/// says everything a node file holds. What is missing is filled in, marked `assumed`, and listed in
/// the notes, so that the user can check it.

#include "topology/node.hpp"

#include <optional>
#include <string>
#include <vector>

namespace stepsim::topology {

/// What the user knows better than the file.
struct ImportChoices {
  std::string name;    // of the node type; empty: made from the file's name
  std::string device;  // GPU type (topology/devices); empty: what the file says or suggests
  std::optional<Bandwidth> nic_bandwidth;  // of one port
};

struct NodeImport {
  Node node;
  std::vector<std::string> notes;  // what was assumed and what looked wrong, for the user to check
};

/// An NCCL topology file (NCCL_TOPO_DUMP_FILE, NCCL_TOPO_FILE): XML. Throws InputError.
NodeImport import_nccl_topology(const DataDirectory& data, const std::string& file,
                                const ImportChoices& choices = {});

/// The matrix that `nvidia-smi topo -m` prints, however it was copied. Throws InputError.
NodeImport import_topology_matrix(const DataDirectory& data, const std::string& file,
                                  const ImportChoices& choices = {});

/// A node type by a name of topology/nodes, or by the path of a node file (YAML), an NCCL topology
/// file (.xml) or a matrix (.txt). Throws InputError naming the nearest name.
NodeImport find_node(const DataDirectory& data, const std::string& reference);

/// A node as the text of a node file: reads back to the same node.
std::string node_yaml(const Node& node);
/// The same with the notes as comments in front.
std::string import_yaml(const NodeImport& import);

}  // namespace stepsim::topology
