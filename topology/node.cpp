#include "topology/node.hpp"

#include "topology/profile_file.hpp"

#include <algorithm>

namespace stepsim::topology {

namespace {

constexpr const char* folder = "topology/nodes";
/// GPUs of the largest NVLink domain on sale, with room for the next.
constexpr int most_gpus = 1024;

/// NVLink keys make sense with NVLink alone.
void read_nvlink(ObjectReader& reader, Node& node) {
  if (node.interconnect != Interconnect::pcie) {
    reader.required("nvlink_bandwidth", node.nvlink_bandwidth);
    reader.required("nvlink_count", node.nvlink_count, Integer{.least = 1, .most = 1000});
    reader.optional("nvlink_domain", node.nvlink_domain, Integer{.least = 0, .most = node.gpus});
    reader.optional("in_switch_reduction", node.in_switch_reduction);
    if (node.in_switch_reduction && node.interconnect != Interconnect::nvswitch) {
      reader.refuse("in_switch_reduction", "is true for GPUs without a switch", "false");
    }
    return;
  }
  for (const char* key : {"nvlink_bandwidth", "nvlink_count", "nvlink_domain"}) {
    if (reader.take(key) != nullptr) {
      reader.refuse(key, "is given for GPUs joined by PCIe",
                    "no such key, or interconnect: nvswitch or nvlink_mesh");
    }
  }
  if (reader.optional("in_switch_reduction", node.in_switch_reduction) &&
      node.in_switch_reduction) {
    reader.refuse("in_switch_reduction", "is true for GPUs joined by PCIe", "false");
  }
}

}  // namespace

Node read_node(const DataDirectory& data, const DocumentNode& block, const std::string& path,
               Diagnostics& problems) {
  Node node;
  ObjectReader reader(block, path, problems);
  reader.take_unsourced();
  std::string device;
  reader.required("name", node.name);
  reader.optional("description", node.description);
  const bool has_device = reader.required("device", device);
  reader.required("gpus", node.gpus, Integer{.least = 1, .most = most_gpus});
  reader.required("interconnect", node.interconnect, interconnect_words());
  read_nvlink(reader, node);
  reader.required("pcie_generation", node.pcie_generation, Integer{.least = 3, .most = 6});
  reader.required("pcie_bandwidth", node.pcie_bandwidth);
  reader.required("socket_bandwidth", node.socket_bandwidth);
  reader.required("nics", node.nics, Integer{.least = 1, .most = 10'000});
  reader.required("nic_bandwidth", node.nic_bandwidth);
  reader.required("cpu", node.cpu, cpu_vendor_words());
  reader.finish();
  if (!has_device) return node;
  const std::vector<std::string> known = device_names(data);
  if (std::find(known.begin(), known.end(), device) == known.end()) {
    reader.refuse("device", "there is no device \"" + device + "\"",
                  "a name that list devices shows", nearest_choice(device, known));
  } else {
    node.device = load_device(data, device);
  }
  return node;
}

Node load_node(const DataDirectory& data, const std::string& name) {
  const Document document = read_profile(data, folder, name, "node");
  Diagnostics problems;
  Node node = read_node(data, document.root, "", problems);
  problems.throw_if_any();
  node.file = document.file;
  node.hash = document.hash;
  return node;
}

std::vector<std::string> node_names(const DataDirectory& data) {
  return data.names(folder, ".yaml");
}

}  // namespace stepsim::topology
