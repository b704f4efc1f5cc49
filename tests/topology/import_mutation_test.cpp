/// Descriptions of boxes as they arrive when something went wrong on the way: cut off, with bytes
/// changed, lines lost, doubled or swapped. Each becomes a possible node or a refusal that says
/// where; nothing crashes, hangs, or escapes as another error.

#include "topology/import_node.hpp"

#include "sim/base/error.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/temporary_path.hpp"

#include <filesystem>
#include <fstream>
#include <functional>

using namespace stepsim;
using namespace stepsim::topology;

namespace {

using Import = std::function<NodeImport(const std::string& file)>;

DataDirectory shipped() { return DataDirectory(STEPSIM_SOURCE_DIRECTORY); }

const std::string matrix =
    "\t\x1b[4mGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\x1b[0m\n"
    "GPU0\t X \tNV18\tNV18\tNV18\tPIX\tNODE\t0-47\t0\n"
    "GPU1\tNV18\t X \tNV18\tNV18\tNODE\tPXB\t0-47\t0\n"
    "GPU2\tNV18\tNV18\t X \tNV18\tSYS\tSYS\t48-95\t1\n"
    "GPU3\tNV18\tNV18\tNV18\t X \tSYS\tSYS\t48-95\t1\n"
    "NIC0\tPIX\tNODE\tSYS\tSYS\t X \tNODE\n"
    "NIC1\tNODE\tPXB\tSYS\tSYS\tNODE\t X \n"
    "\nLegend:\n\n  X    = Self\n  SYS  = across sockets\n\nNIC Legend:\n\n  NIC0: mlx5_0\n"
    "  NIC1: mlx5_1\n";

std::string gpu(const std::string& bus, const std::string& dev) {
  return "<pci busid=\"" + bus +
         "\" class=\"0x030200\" device=\"0x2330\" link_speed=\"32.0 GT/s PCIe\" "
         "link_width=\"16\">\n<gpu dev=\"" +
         dev +
         "\" sm=\"90\" rank=\"0\" gdr=\"1\">\n<nvlink target=\"0000:f5:00.0\" count=\"18\" "
         "tclass=\"0x068000\"/>\n</gpu>\n</pci>\n";
}

const std::string xml =
    "<system version=\"1\">\n<cpu numaid=\"0\" arch=\"x86_64\" vendor=\"GenuineIntel\" "
    "familyid=\"6\" modelid=\"143\">\n" +
    gpu("0000:1b:00.0", "0") + gpu("0000:1c:00.0", "1") +
    "<pci busid=\"0000:1d:00.0\" class=\"0x020700\" link_speed=\"32.0 GT/s PCIe\" "
    "link_width=\"16\">\n<nic>\n<net name=\"mlx5_0\" dev=\"0\" speed=\"400000\" port=\"1\" "
    "gdr=\"1\"/>\n</nic>\n</pci>\n</cpu>\n</system>\n";

/// Counts what imported and what was refused; fails on anything else.
class Trial {
 public:
  Trial(std::string extension, Import import)
      : folder_(temporary_path("import-mutation-test")),
        file_((folder_ / ("box." + std::move(extension))).string()),
        import_(std::move(import)) {
    std::filesystem::create_directories(folder_);
  }

  void run(const std::string& text) {
    std::ofstream(file_, std::ios::binary) << text;
    try {
      const Node node = import_(file_).node;
      ++imported;
      if (node.gpus < 1 || node.nics.value < 1 || !(node.nic_bandwidth.value > Bandwidth()) ||
          node.nvlink_domain > node.gpus) {
        FAIL("an impossible node of:\n" << text);
      }
      // What was made of it is a node file that reads back.
      if (imported % 16 == 1) {
        const std::string path = (folder_ / "node.yaml").string();
        std::ofstream(path) << node_yaml(node);
        CHECK(find_node(shipped(), path).node.gpus == node.gpus);
      }
    } catch (const InputError& error) {
      ++refused;
      const std::string message = error.what();
      if (message.find("box.") == std::string::npos) FAIL("no file in: " << message);
    } catch (const std::exception& error) {
      FAIL("another error, " << error.what() << ", of:\n" << text);
    }
  }

  int imported = 0;
  int refused = 0;

 private:
  std::filesystem::path folder_;
  std::string file_;
  Import import_;
};

std::uint32_t next_random(std::uint32_t& state) {
  state = state * 1664525U + 1013904223U;
  return state >> 8;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    lines.back() += c;
    if (c == '\n') lines.emplace_back();
  }
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

std::string with_windows_line_ends(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '\n' ? std::string("\r\n") : std::string(1, c);
  return result;
}

void cut_off(Trial& trial, const std::string& text) {
  for (std::size_t length = 0; length < text.size(); length += 3) trial.run(text.substr(0, length));
}

void change_bytes(Trial& trial, const std::string& text) {
  const std::string bytes = "<>\"/&\t\n\r \x1b[0mXNVS9-=\xc3";
  std::uint32_t state = 1;
  for (int i = 0; i < 300; ++i) {
    std::string changed = text;
    const std::uint32_t changes = 1 + next_random(state) % 4;
    for (std::uint32_t k = 0; k < changes; ++k)
      changed[next_random(state) % changed.size()] = bytes[next_random(state) % bytes.size()];
    trial.run(changed);
  }
}

void move_lines(Trial& trial, const std::string& text) {
  const std::vector<std::string> lines = lines_of(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::vector<std::string> changed = lines;
    changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(i));
    trial.run(joined(changed));
    changed = lines;
    changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(i), lines[i]);
    trial.run(joined(changed));
    changed = lines;
    std::swap(changed[i], changed[(i + 1) % lines.size()]);
    trial.run(joined(changed));
  }
}

void run_all(Trial& trial, const std::string& text) {
  cut_off(trial, text);
  change_bytes(trial, text);
  move_lines(trial, text);
}

NodeImport read_matrix(const std::string& file) {
  return import_topology_matrix(shipped(), file, {});
}
NodeImport read_xml(const std::string& file) { return import_nccl_topology(shipped(), file, {}); }

}  // namespace

TEST_CASE("a damaged matrix becomes a node or a refusal", "[import]") {
  Trial trial("txt", read_matrix);
  trial.run(matrix);
  REQUIRE(trial.imported == 1);
  run_all(trial, matrix);
  CHECK(trial.imported > 50);
  CHECK(trial.refused > 50);
}

TEST_CASE("a damaged NCCL topology file becomes a node or a refusal", "[import]") {
  Trial trial("xml", read_xml);
  trial.run(xml);
  REQUIRE(trial.imported == 1);
  run_all(trial, xml);
  CHECK(trial.imported > 50);
  CHECK(trial.refused > 50);
}

TEST_CASE("line ends of Windows, a missing legend and a missing last newline change nothing",
          "[import]") {
  const auto folder = temporary_path("import-line-ends-test");
  std::filesystem::create_directories(folder);
  const auto node_of = [&](const std::string& text, const std::string& name, const auto& read) {
    std::ofstream(folder / name, std::ios::binary) << text;
    return node_yaml(read((folder / name).string()).node);
  };
  const std::string plain = node_of(matrix, "box.txt", read_matrix);
  CHECK(node_of(with_windows_line_ends(matrix), "box.txt", read_matrix) == plain);
  CHECK(node_of(matrix.substr(0, matrix.find("\nLegend")), "box.txt", read_matrix) == plain);
  CHECK(node_of(matrix.substr(0, matrix.find("\n\nLegend")), "box.txt", read_matrix) == plain);
  CHECK(node_of(with_windows_line_ends(xml), "box.xml", read_xml) ==
        node_of(xml, "box.xml", read_xml));
}
