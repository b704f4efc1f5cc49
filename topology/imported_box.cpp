#include "topology/imported_box.hpp"

#include "topology/nvlink_shape.hpp"

#include "sim/base/error.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

namespace stepsim::topology {

namespace {

constexpr int most_gpus_of_a_box = 1024;
/// Within a generation, cards with a screen count from here on: 8.6 and 8.9 are no A100.
constexpr int first_consumer_digit = 5;

/// PCI device numbers of the GPU types that ship.
const std::map<std::string, std::string>& devices_by_pci_number() {
  static const std::map<std::string, std::string> devices = {
      {"0x1db5", "v100-sxm-32gb"},  {"0x20b0", "a100-sxm-40gb"},  {"0x20b2", "a100-sxm-80gb"},
      {"0x20b5", "a100-pcie-80gb"}, {"0x2330", "h100-sxm-80gb"},  {"0x2331", "h100-pcie-80gb"},
      {"0x2335", "h200-sxm-141gb"}, {"0x2901", "b200-sxm-180gb"}, {"0x2941", "gb200"}};
  return devices;
}

int most_links(const BoxGpu& gpu) {
  int links = gpu.switch_links + gpu.unseen_links;
  for (const auto& [peer, count] : gpu.peers) links = std::max(links, count);
  return links;
}

/// The GPU type a box suggests when it does not say.
std::string likely_device(const Box& box) {
  const BoxGpu& gpu = box.gpus.front();
  const int links = most_links(gpu);
  const bool no_port_is_near =
      std::all_of(box.ports.begin(), box.ports.end(),
                  [](const auto& port) { return port.nearest == Nearness::system; });
  // A GB200 tray reaches its ports through the CPU's coherent link, which looks far.
  const bool tray = box.gpus.size() == 4 && !box.ports.empty() && no_port_is_near && links == 18;
  if (tray) return "gb200";
  const int capability = gpu.compute_capability;
  const int generation = gpu.pcie_generation;
  if (links == 0 && box.shows_nvlink) {
    return generation == 4 || capability == 80 ? "a100-pcie-80gb" : "h100-pcie-80gb";
  }
  if (capability >= 100 || generation == 6) return "b200-sxm-180gb";
  if (capability >= 90 || links > 12 || generation == 5) return "h100-sxm-80gb";
  if (capability >= 80 || links > 6 || generation == 4) return "a100-sxm-80gb";
  return "v100-sxm-32gb";
}

/// A compute capability that none of the GPU types has suggests none of them.
void check_capability(const DataDirectory& data, const Box& box) {
  const int capability = box.gpus.front().compute_capability;
  if (capability == 0) return;
  std::string known;
  for (const std::string& name : device_names(data)) {
    if (load_device(data, name).compute_capability / 10 == capability / 10 &&
        capability % 10 < first_consumer_digit) {
      return;
    }
    known += (known.empty() ? "" : ", ") + name;
  }
  throw InputError(Diagnostic{{box.file},
                              {},
                              "holds GPUs of compute capability " +
                                  std::to_string(capability / 10) + "." +
                                  std::to_string(capability % 10) + ", of which no type is known",
                              "the device option with the nearest of " + known,
                              {}});
}

Device find_device(const DataDirectory& data, Box& box, const ImportChoices& choices) {
  if (!choices.device.empty()) return load_device(data, choices.device);
  const auto known = devices_by_pci_number().find(box.gpus.front().pci_device);
  if (known != devices_by_pci_number().end()) return load_device(data, known->second);
  check_capability(data, box);
  const std::string likely = likely_device(box);
  box.notes.push_back("the file does not name the GPU type: took " + likely +
                      ", which fits its links; say which with the device option");
  return load_device(data, likely);
}

/// PCIe of the GPU type, where the file does not say.
int usual_generation(const Device& device) {
  if (device.name == "gb200") return 6;
  if (device.compute_capability >= 90) return 5;
  return device.compute_capability >= 80 ? 4 : 3;
}

void fill_pcie(const Box& box, Node& node) {
  const int generation = box.gpus.front().pcie_generation;
  node.pcie_generation = generation != 0 ? generation : usual_generation(node.device);
  constexpr double third_generation = 16;  // GB/s of 16 lanes, one direction; each doubles
  const double rate = third_generation * (1 << (node.pcie_generation - 3));
  const SourceKind kind = generation != 0 ? SourceKind::measured : SourceKind::assumed;
  node.pcie_bandwidth = {Bandwidth::gigabytes_per_second(rate),
                         {kind, kind == SourceKind::measured ? box.file : "usual for this GPU"}};
}

void fill_cpu(Box& box, Node& node) {
  node.cpu = box.cpu.value_or(node.device.name == "gb200" ? CpuVendor::arm : CpuVendor::intel);
  if (!box.cpu)
    box.notes.push_back("the file does not name the CPU: took " +
                        std::string(node.cpu == CpuVendor::arm ? "arm" : "intel"));
  constexpr std::array<double, 3> usual = {22, 16, 6};  // Sapphire Rapids, AMD, Arm
  const double rate = box.socket_gb_per_s.value_or(usual[static_cast<std::size_t>(node.cpu)]);
  node.socket_bandwidth = {
      Bandwidth::gigabytes_per_second(rate),
      {SourceKind::assumed, "what the NCCL graph search counts between sockets"}};
}

/// Ports for training are those near a GPU; where none is near, all of the nearest kind.
std::vector<BoxPort> training_ports(Box& box) {
  const auto keep = [&](Nearness most) {
    std::vector<BoxPort> kept;
    for (const BoxPort& port : box.ports) {
      if (port.nearest <= most) kept.push_back(port);
    }
    return kept;
  };
  std::vector<BoxPort> ports = keep(Nearness::switches);
  if (ports.empty()) ports = keep(Nearness::numa_node);
  if (ports.empty()) {
    ports = keep(Nearness::system);
    if (ports.size() > box.gpus.size()) ports.resize(box.gpus.size());
  }
  if (ports.size() < box.ports.size()) {
    box.notes.push_back("took " + std::to_string(ports.size()) + " of " +
                        std::to_string(box.ports.size()) +
                        " ports for training: the others are far from every GPU");
  }
  return ports;
}

double usual_port_gigabits(const Node& node) {
  if (node.pcie_generation >= 5) return 400;
  return node.pcie_generation == 4 ? 200 : 100;
}

void fill_ports(Box& box, const ImportChoices& choices, Node& node) {
  const std::vector<BoxPort> ports = training_ports(box);
  const std::string where = ports.empty() ? "the file shows no port" : box.file;
  node.nics = {std::max<int>(1, static_cast<int>(ports.size())),
               {ports.empty() ? SourceKind::assumed : SourceKind::measured, where}};
  if (ports.empty()) box.notes.push_back("the file shows no network port: took one");
  if (choices.nic_bandwidth) {
    node.nic_bandwidth = {*choices.nic_bandwidth, {SourceKind::measured, "given to the import"}};
  } else if (!ports.empty() && ports.front().rate) {
    node.nic_bandwidth = {*ports.front().rate, {SourceKind::measured, box.file}};
    const bool differ = std::any_of(ports.begin(), ports.end(), [&](const BoxPort& port) {
      return port.rate != ports.front().rate;
    });
    if (differ) box.notes.push_back("ports differ in speed: took that of " + ports.front().label);
  } else {
    const double gigabits = usual_port_gigabits(node);
    node.nic_bandwidth = {Bandwidth::bits_per_second(gigabits * 1e9),
                          {SourceKind::assumed, "usual for this generation of PCIe"}};
    box.notes.push_back("the file gives no port speed: took " +
                        format_bandwidth(node.nic_bandwidth.value));
  }
}

void fill_nvlink(Box& box, Node& node) {
  const NvlinkShape shape = nvlink_shape(box, node.device);
  node.interconnect = shape.interconnect;
  if (shape.interconnect == Interconnect::pcie) return;
  const double link = node.device.compute_capability >= 100 ? 50 : 25;  // GB/s, datasheets
  node.nvlink_count = {shape.links_of_a_gpu,
                       {shape.assumed ? SourceKind::assumed : SourceKind::measured,
                        shape.assumed ? "usual for this GPU" : box.file}};
  node.nvlink_bandwidth = {Bandwidth::gigabytes_per_second(link * shape.links_of_a_gpu),
                           {SourceKind::datasheet, format_number(link) + " GB/s a link"}};
  node.nvlink_domain = shape.domain;
  node.in_switch_reduction =
      shape.interconnect == Interconnect::nvswitch && node.device.compute_capability >= 90;
}

void check_box(const Box& box) {
  if (box.gpus.empty()) {
    throw InputError(Diagnostic{{box.file}, {}, "shows no GPU", "at least one", {}});
  }
  if (box.gpus.size() > most_gpus_of_a_box) {
    throw InputError(Diagnostic{{box.file},
                                {},
                                "shows " + std::to_string(box.gpus.size()) + " GPUs",
                                "at most " + std::to_string(most_gpus_of_a_box),
                                {}});
  }
}

}  // namespace

NodeImport node_from_box(const DataDirectory& data, Box box, const ImportChoices& choices) {
  check_box(box);
  NodeImport import;
  Node& node = import.node;
  node.name = choices.name.empty() ? std::filesystem::path(box.file).stem().string() : choices.name;
  node.device = find_device(data, box, choices);
  node.gpus = static_cast<int>(box.gpus.size());
  node.description = "imported from " + std::filesystem::path(box.file).filename().string();
  node.file = box.file;
  fill_nvlink(box, node);
  fill_pcie(box, node);
  fill_cpu(box, node);
  fill_ports(box, choices, node);
  if (node.device.name == "gb200" && node.gpus < 72) {
    box.notes.push_back("a tray of a rack: the node type gb200-nvl72 is the whole NVLink domain");
  }
  import.notes = std::move(box.notes);
  return import;
}

}  // namespace stepsim::topology
