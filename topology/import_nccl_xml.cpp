#include "topology/imported_box.hpp"

#include "sim/base/document.hpp"
#include "sim/base/error.hpp"
#include "sim/base/file_hash.hpp"

#include <pugixml.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace stepsim::topology {

namespace {

constexpr std::size_t largest_file_bytes = 8'000'000;
constexpr int deepest_nesting = 64;

SourceLocation location(const std::string& file, const std::string& text, std::ptrdiff_t offset) {
  const auto end = text.begin() +
                   std::clamp<std::ptrdiff_t>(offset, 0, static_cast<std::ptrdiff_t>(text.size()));
  const auto line = std::count(text.begin(), end, '\n');
  const auto start = std::find(std::make_reverse_iterator(end), text.rend(), '\n').base();
  return {file, static_cast<int>(line) + 1, static_cast<int>(end - start) + 1};
}

/// Where a device hangs: its CPU and the bridges above it.
using Path = std::vector<const void*>;

/// Reads one file into a box.
class Reader {
 public:
  Reader(const std::string& file, const std::string& text) : file_(file), text_(text) {
    box_.file = file;
    box_.shows_nvlink = false;
  }
  Box read();

 private:
  void read_cpu(const pugi::xml_node& cpu);
  void read_children(const pugi::xml_node& parent, const Path& path, int depth);
  void read_pci(const pugi::xml_node& pci, const Path& path, int depth);
  void read_gpu(const pugi::xml_node& pci, const Path& path);
  void read_card(const pugi::xml_node& pci, const Path& path);
  void read_net(const pugi::xml_node& net, const Path& path);
  void join_peers();
  void place_ports();

  [[noreturn]] void refuse(const pugi::xml_node& node, std::string problem,
                           std::string expected) const {
    throw InputError(Diagnostic{location(file_, text_, node.offset_debug()),
                                node.name(),
                                std::move(problem),
                                std::move(expected),
                                {}});
  }
  int number(const pugi::xml_node& node, const char* attribute, int least, int most) const;

  const std::string& file_;
  const std::string& text_;
  Box box_;
  std::vector<Path> gpu_paths_;
  std::vector<Path> port_paths_;
  std::map<std::string, std::size_t> gpu_by_bus_;
  struct Link {
    std::size_t gpu;
    std::string target;
    int count;
  };
  std::vector<Link> links_to_gpus_;
};

int Reader::number(const pugi::xml_node& node, const char* attribute, int least, int most) const {
  const std::string value = node.attribute(attribute).value();
  int result = 0;
  try {
    std::size_t used = 0;
    result = std::stoi(value, &used);
    if (used != value.size()) result = least - 1;
  } catch (const std::exception&) {
    result = least - 1;
  }
  if (result < least || result > most) {
    refuse(node, std::string(attribute) + " is \"" + value + "\"",
           "a number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return result;
}

/// PCIe generation of «16.0 GT/s PCIe»; 0 when the file does not say. What a virtual bridge or a
/// virtual machine reports may be slower than any: that is no generation either.
int generation_of(const std::string& link_speed) {
  struct Speed {
    const char* text;
    int generation;
  };
  for (const Speed speed : {Speed{"64", 6}, Speed{"32", 5}, Speed{"16", 4}, Speed{"8", 3}}) {
    if (link_speed.rfind(speed.text, 0) == 0) return speed.generation;
  }
  return 0;
}

void Reader::read_cpu(const pugi::xml_node& cpu) {
  const std::string arch = cpu.attribute("arch").value();
  const std::string vendor = cpu.attribute("vendor").value();
  if (arch == "arm64" || vendor == "ARM") {
    box_.cpu = CpuVendor::arm;
    box_.socket_gb_per_s = 6;
  } else if (vendor == "AuthenticAMD") {
    box_.cpu = CpuVendor::amd;
    box_.socket_gb_per_s = 16;
  } else if (vendor == "GenuineIntel") {
    box_.cpu = CpuVendor::intel;
    // NCCL 2.30.7, src/graph/topo.h, by model: Emerald Rapids, Sapphire Rapids, Skylake, older.
    const int model = cpu.attribute("modelid").as_int();
    box_.socket_gb_per_s = model >= 207 ? 40 : model >= 143 ? 22 : model >= 85 ? 10 : 6;
  }
  read_children(cpu, {cpu.internal_object()}, 0);
}

void Reader::read_children(const pugi::xml_node& parent, const Path& path, int depth) {
  if (depth > deepest_nesting) refuse(parent, "is nested too deep", "at most 64 bridges");
  for (const pugi::xml_node& child : parent.children()) {
    const std::string name = child.name();
    if (name == "pci") read_pci(child, path, depth);
    if (name == "nic") read_children(child, path, depth + 1);
    if (name == "net") read_net(child, path);
  }
}

/// A card for data centres is a 3D controller, one with a screen a VGA controller, and AMD's are
/// display controllers; the boards' own graphics chips are VGA too, but no GPU hangs below them.
bool is_gpu(const pugi::xml_node& pci) {
  const std::string kind = pci.attribute("class").value();
  return kind.rfind("0x0302", 0) == 0 || (kind.rfind("0x03", 0) == 0 && pci.child("gpu"));
}

void Reader::read_pci(const pugi::xml_node& pci, const Path& path, int depth) {
  const std::string kind = pci.attribute("class").value();
  if (is_gpu(pci)) {
    read_gpu(pci, path);
  } else if (kind.rfind("0x0200", 0) == 0 || kind.rfind("0x0207", 0) == 0) {
    read_card(pci, path);
  } else {
    Path below = path;
    below.push_back(pci.internal_object());
    read_children(pci, below, depth + 1);
  }
}

void Reader::read_gpu(const pugi::xml_node& pci, const Path& path) {
  BoxGpu gpu;
  const std::string bus = pci.attribute("busid").value();
  const std::string vendor = pci.attribute("vendor").value();
  if (!vendor.empty() && vendor != "0x10de") {
    refuse(pci, "the GPU's vendor is " + vendor, "0x10de, NVIDIA: other GPUs are not known");
  }
  gpu.label = "GPU " + bus;
  gpu.pci_device = pci.attribute("device").value();
  gpu.pcie_generation = generation_of(pci.attribute("link_speed").value());
  const std::size_t index = box_.gpus.size();
  if (!bus.empty() && !gpu_by_bus_.emplace(bus, index).second) {
    refuse(pci, "a second device has busid \"" + bus + "\"", "one device at each busid");
  }
  const pugi::xml_node details = pci.child("gpu");
  if (details) {
    box_.shows_nvlink = true;
    gpu.compute_capability = number(details, "sm", 30, 999);
    for (const pugi::xml_node& link : details.children("nvlink")) {
      const int count = number(link, "count", 1, 1000);
      const std::string kind = link.attribute("tclass").value();
      if (kind.rfind("0x0680", 0) == 0) {
        gpu.switch_links += count;
      } else {
        links_to_gpus_.push_back({index, link.attribute("target").value(), count});
      }
    }
  }
  box_.gpus.push_back(std::move(gpu));
  gpu_paths_.push_back(path);
}

/// A network card: its ports, or one of unknown speed when the file stops at the card.
void Reader::read_card(const pugi::xml_node& pci, const Path& path) {
  const std::size_t before = box_.ports.size();
  read_children(pci, path, 1);
  if (box_.ports.size() > before) return;
  BoxPort port;
  port.label = std::string("network card ") + pci.attribute("busid").value();
  const bool first_efa = std::string(pci.attribute("vendor").value()) == "0x1d0f" &&
                         std::string(pci.attribute("device").value()) == "0xefa0";
  if (first_efa) port.rate = Bandwidth::bits_per_second(100e9);
  box_.ports.push_back(port);
  port_paths_.push_back(path);
}

void Reader::read_net(const pugi::xml_node& net, const Path& path) {
  BoxPort port;
  port.label = net.attribute("name").value();
  const int megabits = number(net, "speed", 0, 100'000'000);
  // NCCL takes 10 Gb/s where the driver does not know.
  if (megabits > 0) port.rate = Bandwidth::bits_per_second(megabits * 1e6);
  box_.ports.push_back(std::move(port));
  port_paths_.push_back(path);
}

void Reader::join_peers() {
  for (const Link& link : links_to_gpus_) {
    const auto target = gpu_by_bus_.find(link.target);
    if (target == gpu_by_bus_.end() || target->second == link.gpu) {
      box_.gpus[link.gpu].unseen_links += link.count;
    } else {
      box_.gpus[link.gpu].peers[target->second] += link.count;
    }
  }
}

void Reader::place_ports() {
  for (std::size_t i = 0; i < box_.ports.size(); ++i) {
    for (const Path& gpu : gpu_paths_) {
      const auto shared = static_cast<std::size_t>(
          std::mismatch(gpu.begin(), gpu.end(), port_paths_[i].begin(), port_paths_[i].end())
              .first -
          gpu.begin());
      const Nearness near = shared > 1    ? Nearness::one_switch
                            : shared == 1 ? Nearness::host_bridge
                                          : Nearness::system;
      box_.ports[i].nearest = std::min(box_.ports[i].nearest, near);
    }
  }
}

Box Reader::read() {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(text_.data(), text_.size());
  if (!parsed) {
    throw InputError(Diagnostic{location(file_, text_, parsed.offset),
                                {},
                                std::string("is not XML: ") + parsed.description(),
                                "an NCCL topology file",
                                {}});
  }
  const pugi::xml_node system = document.child("system");
  if (!system) {
    const pugi::xml_node root = document.document_element();
    refuse(root, "holds a \"" + std::string(root.name()) + "\"",
           "an NCCL topology file, whose root is \"system\"");
  }
  for (const pugi::xml_node& cpu : system.children("cpu")) read_cpu(cpu);
  join_peers();
  place_ports();
  return std::move(box_);
}

}  // namespace

NodeImport import_nccl_topology(const DataDirectory& data, const std::string& file,
                                const ImportChoices& choices) {
  const std::string text = read_file(file, largest_file_bytes);
  NodeImport import = node_from_box(data, Reader(file, text).read(), choices);
  import.node.hash = content_hash(text);
  return import;
}

}  // namespace stepsim::topology
