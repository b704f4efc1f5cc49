/// Imports real topology files and matrices, where they are at hand, and prints what came of them.
///   import_samples_test FOLDER
/// FOLDER holds nccl-xml/ and topo/; without it the program says so and returns 77.

#include "topology/import_node.hpp"

#include "sim/base/error.hpp"

#include <cstdio>
#include <filesystem>

using namespace stepsim;
using namespace stepsim::topology;

namespace {

struct Expected {
  const char* file;
  const char* device;  // given to the import; empty: what the file says or suggests
  const char* found_device;
  int gpus;
  Interconnect interconnect;
  int links;
  int domain;
  int ports;
  double port_gigabits;
};

const Expected expectations[] = {
    {"nccl-xml/aws_p4d-24xl-topo.xml", "", "a100-sxm-40gb", 8, Interconnect::nvswitch, 12, 0, 4,
     100},
    {"nccl-xml/azure_ncv4-topo.xml", "", "a100-pcie-80gb", 4, Interconnect::nvlink_mesh, 12, 2, 1,
     100},
    {"nccl-xml/azure_ndv2-topo.xml", "v100-sxm-32gb", "v100-sxm-32gb", 8, Interconnect::nvlink_mesh,
     6, 0, 1, 200},
    {"nccl-xml/azure_ndv4-topo.xml", "", "a100-sxm-80gb", 8, Interconnect::nvswitch, 12, 0, 8, 200},
    {"nccl-xml/azure_ndv5-topo.xml", "", "h100-sxm-80gb", 8, Interconnect::nvswitch, 18, 0, 8, 400},
    {"nccl-xml/ibm_vpc_h100_dump.xml", "", "h100-sxm-80gb", 8, Interconnect::nvswitch, 18, 0, 8,
     200},
    {"topo/a100_pairs_nv12_bridge.txt", "a100-pcie-80gb", "a100-pcie-80gb", 8,
     Interconnect::nvlink_mesh, 12, 2, 1, 200},
    {"topo/concatenated_nic_labels.txt", "", "h100-sxm-80gb", 2, Interconnect::nvlink_mesh, 18, 0,
     2, 400},
    {"topo/dgx_a100_12nic.txt", "", "a100-sxm-80gb", 8, Interconnect::nvswitch, 12, 0, 8, 200},
    {"topo/dgx_h100_mlx5cols.txt", "", "h100-sxm-80gb", 8, Interconnect::nvswitch, 18, 0, 8, 400},
    {"topo/gb200_4gpu_allsys.txt", "", "gb200", 4, Interconnect::nvswitch, 18, 0, 4, 400},
    {"topo/oci_h100_spaces_niclegend.txt", "", "h100-sxm-80gb", 4, Interconnect::nvswitch, 18, 0, 4,
     400},
    {"topo/pcie_4gpu_epyc_2nic.txt", "a100-pcie-80gb", "a100-pcie-80gb", 4, Interconnect::pcie, 0,
     0, 2, 200},
    {"topo/pcie_8gpu_6plus2_numa.txt", "h100-pcie-80gb", "h100-pcie-80gb", 8, Interconnect::pcie, 0,
     0, 1, 400},
    {"topo/v100_hybrid_cube_mesh.txt", "v100-sxm-32gb", "v100-sxm-32gb", 8,
     Interconnect::nvlink_mesh, 6, 0, 1, 100}};

bool equals(const Expected& expected, const Node& node) {
  return node.device.name == expected.found_device && node.gpus == expected.gpus &&
         node.interconnect == expected.interconnect && node.nvlink_count.value == expected.links &&
         node.nvlink_domain == expected.domain && node.nics.value == expected.ports &&
         node.nic_bandwidth.value == Bandwidth::bits_per_second(expected.port_gigabits * 1e9);
}

bool import_one(const DataDirectory& data, const std::filesystem::path& file,
                const Expected& expected) {
  const ImportChoices choices{"", expected.device, {}};
  const NodeImport import = file.extension() == ".xml"
                                ? import_nccl_topology(data, file.string(), choices)
                                : import_topology_matrix(data, file.string(), choices);
  const bool good = equals(expected, import.node);
  std::printf("%s %s\n%s", good ? "ok    " : "FAILED", expected.file,
              node_yaml(import.node).c_str());
  for (const std::string& note : import.notes) std::printf("# %s\n", note.c_str());
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path folder = argc > 1 ? argv[1] : "";
  if (!std::filesystem::exists(folder / "nccl-xml")) {
    std::printf("skipped: no topology files in %s\n", folder.string().c_str());
    return 77;
  }
  const DataDirectory data(STEPSIM_SOURCE_DIRECTORY);
  bool good = true;
  for (const Expected& expected : expectations) {
    try {
      good &= import_one(data, folder / expected.file, expected);
    } catch (const std::exception& error) {
      std::printf("FAILED %s: %s\n", expected.file, error.what());
      good = false;
    }
  }
  return good ? 0 : 1;
}
