#include "topology/import_node.hpp"

#include "sim/base/error.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/temporary_path.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

using namespace stepsim;
using namespace stepsim::topology;

namespace {

DataDirectory shipped() { return DataDirectory(STEPSIM_SOURCE_DIRECTORY); }

std::string file_with(const std::string& name, const std::string& text) {
  const auto folder = temporary_path("node-import-test");
  std::filesystem::create_directories(folder);
  std::ofstream(folder / name) << text;
  return (folder / name).string();
}

NodeImport matrix(const std::string& text, const ImportChoices& choices = {}) {
  return import_topology_matrix(shipped(), file_with("box.txt", text), choices);
}

NodeImport xml(const std::string& text, const ImportChoices& choices = {}) {
  return import_nccl_topology(shipped(), file_with("box.xml", text), choices);
}

bool notes_say(const NodeImport& import, const std::string& part) {
  return std::any_of(import.notes.begin(), import.notes.end(),
                     [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

template <class Import>
std::string refusal(Import import, const std::string& text) {
  try {
    import(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

const auto read_matrix = [](const std::string& text) { matrix(text); };
const auto read_xml = [](const std::string& text) { xml(text); };

/// Four GPUs on a switch, a port near each of two, one far port.
const std::string switched =
    R"(	GPU0	GPU1	GPU2	GPU3	NIC0	NIC1	NIC2	CPU Affinity	NUMA Affinity
GPU0	 X 	NV18	NV18	NV18	PIX	NODE	SYS	0-47	0
GPU1	NV18	 X 	NV18	NV18	NODE	PXB	SYS	0-47	0
GPU2	NV18	NV18	 X 	NV18	SYS	SYS	SYS	48-95	1
GPU3	NV18	NV18	NV18	 X 	SYS	SYS	SYS	48-95	1
NIC0	PIX	NODE	SYS	SYS	 X 	NODE	SYS
Legend:
  X    = Self
)";

std::string gpu_xml(const std::string& bus, const std::string& links) {
  return "<pci busid=\"" + bus +
         "\" class=\"0x030200\" device=\"0x2330\" link_speed=\"32.0 GT/s PCIe\" "
         "link_width=\"16\"><gpu dev=\"0\" sm=\"90\" rank=\"0\" gdr=\"1\">" +
         links + "</gpu></pci>";
}

std::string system_xml(const std::string& inside) {
  return "<system version=\"1\">\n<cpu numaid=\"0\" arch=\"x86_64\" vendor=\"GenuineIntel\" "
         "familyid=\"6\" modelid=\"143\">\n" +
         inside + "\n</cpu>\n</system>\n";
}

const std::string to_switch = "<nvlink target=\"0000:f5:00.0\" count=\"18\" tclass=\"0x068000\"/>";

}  // namespace

TEST_CASE("a matrix where all see all over one count of NVLinks is a switch", "[import]") {
  const NodeImport import = matrix(switched);
  CHECK(import.node.gpus == 4);
  CHECK(import.node.interconnect == Interconnect::nvswitch);
  CHECK(import.node.nvlink_count.value == 18);
  CHECK(import.node.nvlink_bandwidth.value.gigabytes_per_second() == Approx(450));
  CHECK(import.node.in_switch_reduction);
  CHECK(import.node.device.name == "h100-sxm-80gb");
  CHECK(notes_say(import, "does not name the GPU type"));
}

TEST_CASE("only ports near a GPU are for training", "[import]") {
  const NodeImport import = matrix(switched);
  CHECK(import.node.nics.value == 2);
  CHECK(notes_say(import, "took 2 of 3 ports"));
  CHECK(import.node.nic_bandwidth.source.kind == SourceKind::assumed);
}

TEST_CASE("what the user knows counts more than what the file suggests", "[import]") {
  const NodeImport import =
      matrix(switched, {"mine", "h200-sxm-141gb", Bandwidth::bits_per_second(200e9)});
  CHECK(import.node.name == "mine");
  CHECK(import.node.device.name == "h200-sxm-141gb");
  CHECK(import.node.nic_bandwidth.value.gigabytes_per_second() == Approx(25));
  CHECK_FALSE(notes_say(import, "GPU type"));
}

TEST_CASE("an imported node is printed as a node file that reads back the same", "[import]") {
  const Node node = matrix(switched).node;
  const Document document = parse_document(node_yaml(node), "node", DocumentFormat::yaml);
  Diagnostics problems;
  const Node again = read_node(shipped(), document.root, "", problems);
  problems.throw_if_any();
  CHECK(node_yaml(again) == node_yaml(node));
  CHECK(again.nvlink_bandwidth.value == node.nvlink_bandwidth.value);
  CHECK(again.nic_bandwidth.value == node.nic_bandwidth.value);
}

TEST_CASE("terminal colours, blank lines, spaces and carriage returns do not matter", "[import]") {
  std::string text = "\n\n\x1b[4mGPU0\x1b[0m   GPU1  \x1b[4mCPU Affinity\x1b[0m\r\n";
  text += "GPU0   X    NV12  0-31\r\nGPU1  NV12   X    0-31\r\n";
  const NodeImport import = matrix(text);
  CHECK(import.node.gpus == 2);
  CHECK(import.node.nvlink_count.value == 12);
  CHECK(import.node.device.name == "a100-sxm-80gb");
}

TEST_CASE("a header that was wrapped is put together", "[import]") {
  const NodeImport import =
      matrix("GPU0 GPU1\n NIC0 CPU Affinity\nGPU0 X NODE PIX 0-1\nGPU1 NODE X NODE 0-1\n");
  CHECK(import.node.gpus == 2);
  CHECK(import.node.nics.value == 1);
}

TEST_CASE("labels printed without a gap are told apart by the cells of the rows", "[import]") {
  const NodeImport import =
      matrix("GPU0 GPU1 NIC0NIC1 CPU\nGPU0 X NV12 PIX NODE\nGPU1 NV12 X NODE PIX\n");
  CHECK(import.node.nics.value == 2);
}

TEST_CASE("GPUs joined in pairs are domains of two", "[import]") {
  const NodeImport import = matrix(
      "GPU0 GPU1 GPU2 GPU3\nGPU0 X NV12 NODE SYS\nGPU1 NV12 X NODE SYS\nGPU2 NODE NODE X NV12\n"
      "GPU3 SYS SYS NV12 X\n");
  CHECK(import.node.interconnect == Interconnect::nvlink_mesh);
  CHECK(import.node.nvlink_domain == 2);
  CHECK(import.node.nvlink_count.value == 12);
}

TEST_CASE("direct links between four GPUs are a mesh with the sum of its links", "[import]") {
  const NodeImport import = matrix(
      "GPU0 GPU1 GPU2 GPU3\nGPU0 X NV4 NV4 NV4\nGPU1 NV4 X NV4 NV4\nGPU2 NV4 NV4 X NV4\n"
      "GPU3 NV4 NV4 NV4 X\n",
      {"", "a100-sxm-80gb", {}});
  CHECK(import.node.interconnect == Interconnect::nvlink_mesh);
  CHECK(import.node.nvlink_count.value == 12);
  CHECK(import.node.nvlink_domain == 0);
}

TEST_CASE("cells that contradict each other are pointed out", "[import]") {
  const NodeImport import = matrix("GPU0 GPU1\nGPU0 X NV12\nGPU1 SYS X\n");
  CHECK(notes_say(import, "line 3: GPU1 to GPU0 is SYS"));
}

TEST_CASE("a GPU without NVLink among others that have it makes the box PCIe", "[import]") {
  const NodeImport one_sided = matrix("GPU0 GPU1\nGPU0 X NV12\nGPU1 SYS X\n");
  CHECK(one_sided.node.interconnect == Interconnect::pcie);
  CHECK(notes_say(one_sided, "joins only some"));
  const NodeImport unplugged = xml(system_xml(gpu_xml("a", to_switch) + gpu_xml("b", "")));
  CHECK(unplugged.node.interconnect == Interconnect::pcie);
  const Document document = parse_document(node_yaml(unplugged.node), "n", DocumentFormat::yaml);
  Diagnostics problems;
  read_node(shipped(), document.root, "", problems);
  CHECK_NOTHROW(problems.throw_if_any());
}

TEST_CASE("a text that is no matrix is refused with the line", "[import]") {
  CHECK(refusal(read_matrix, "hello\n").find("holds no matrix") != std::string::npos);
  CHECK(refusal(read_matrix, "").find("matrix") != std::string::npos);
  CHECK(refusal(read_matrix, "GPU0 GPU1\nGPU0 X NV12\nGPU1 NV12\n").find("has 1 connections") !=
        std::string::npos);
  CHECK(refusal(read_matrix, "GPU0 GPU1\nGPU0 X NV12\nGPU1 NV12 X SYS\n").find("box.txt:3") !=
        std::string::npos);
  CHECK(refusal(read_matrix, "GPU0 GPU1\nGPU0 X NV12\n").find("GPU1 has no row") !=
        std::string::npos);
  CHECK(refusal(read_matrix, "GPU0 GPU0\nGPU0 X X\n").find("twice") != std::string::npos);
  CHECK(refusal(read_matrix, "GPU0\nGPU0 X\nGPU0 X\n").find("second row") != std::string::npos);
  CHECK(refusal(read_matrix, "GPU0 GPU1\n").find("no rows") != std::string::npos);
}

TEST_CASE("an NCCL file with links to switches is a switched node", "[import]") {
  const NodeImport import = xml(system_xml(
      "<pci busid=\"0000:01:00.0\" class=\"0x060400\" link_speed=\"2.5 GT/s PCIe\">" +
      gpu_xml("0000:02:00.0", to_switch) +
      "<pci busid=\"0000:03:00.0\" class=\"0x020700\"><nic><net name=\"mlx5_0\" dev=\"0\" "
      "speed=\"400000\"/></nic></pci></pci>" +
      gpu_xml("0000:04:00.0", to_switch)));
  CHECK(import.node.gpus == 2);
  CHECK(import.node.device.name == "h100-sxm-80gb");
  CHECK(import.node.interconnect == Interconnect::nvswitch);
  CHECK(import.node.nvlink_count.value == 18);
  CHECK(import.node.nics.value == 1);
  CHECK(import.node.nic_bandwidth.value.gigabytes_per_second() == Approx(50));
  CHECK(import.node.pcie_generation == 5);
  CHECK(import.node.cpu == CpuVendor::intel);
  CHECK(import.node.socket_bandwidth.value.gigabytes_per_second() == Approx(22));
}

TEST_CASE("links between GPUs in an NCCL file are a mesh", "[import]") {
  const auto to = [](const std::string& bus) {
    return "<nvlink target=\"" + bus + "\" count=\"4\" tclass=\"0x030200\"/>";
  };
  const NodeImport import = xml(system_xml(gpu_xml("a", to("b")) + gpu_xml("b", to("a"))));
  CHECK(import.node.interconnect == Interconnect::nvlink_mesh);
  CHECK(import.node.nvlink_count.value == 4);
}

TEST_CASE("an NCCL file without details takes what the GPU type comes with, and says so",
          "[import]") {
  const NodeImport import =
      xml(system_xml("<pci busid=\"a\" class=\"0x030200\" link_speed=\"16 GT/s\"/>"
                     "<pci busid=\"b\" class=\"0x020700\" link_speed=\"16 GT/s\"/>"));
  CHECK(import.node.device.name == "a100-sxm-80gb");
  CHECK(import.node.nvlink_count.value == 12);
  CHECK(import.node.nvlink_count.source.kind == SourceKind::assumed);
  CHECK(notes_say(import, "leaves NVLink out"));
  CHECK(notes_say(import, "gives no port speed"));
}

TEST_CASE("a broken or foreign XML file is refused with the place", "[import]") {
  CHECK(refusal(read_xml, "<system><cpu></system>").find("box.xml:1:") != std::string::npos);
  CHECK(refusal(read_xml, "<graphs version=\"1\"/>").find("graphs") != std::string::npos);
  CHECK(refusal(read_xml, "").find("is not XML") != std::string::npos);
  CHECK(refusal(read_xml, "<system version=\"1\"/>").find("shows no GPU") != std::string::npos);
  CHECK(refusal(read_xml, system_xml(gpu_xml("a", "") + gpu_xml("a", ""))).find("busid \"a\"") !=
        std::string::npos);
  const std::string bad_count = system_xml(gpu_xml("a", "<nvlink target=\"x\" count=\"many\"/>"));
  CHECK(refusal(read_xml, bad_count).find("count is \"many\"") != std::string::npos);
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "<pci class=\"0x060400\">";
  for (int i = 0; i < 200; ++i) deep += "</pci>";
  CHECK(refusal(read_xml, system_xml(deep)).find("too deep") != std::string::npos);
}

TEST_CASE("cards with a screen are GPUs, of a type that the user has to name", "[import]") {
  const auto card = [](const std::string& bus, const std::string& peer) {
    return "<pci busid=\"" + bus +
           "\" class=\"0x030000\" vendor=\"0x10de\" device=\"0x2204\" link_speed=\"16.0 GT/s "
           "PCIe\" link_width=\"16\"><gpu dev=\"0\" sm=\"86\" rank=\"0\" gdr=\"0\"><nvlink "
           "target=\"" +
           peer + "\" count=\"4\" tclass=\"0x030000\"/></gpu></pci>";
  };
  // The board's own graphics chip is none.
  const std::string text =
      system_xml(card("0000:01:00.0", "0000:02:00.0") + card("0000:02:00.0", "0000:01:00.0") +
                 "<pci busid=\"0000:05:00.0\" class=\"0x030000\"/>");
  CHECK(refusal(read_xml, text).find("compute capability 8.6, of which no type is known") !=
        std::string::npos);
  const Node node = xml(text, {"", "a100-pcie-80gb", {}}).node;
  CHECK(node.gpus == 2);
  CHECK(node.interconnect == Interconnect::nvlink_mesh);
  CHECK(node.nvlink_count.value == 4);
  const std::string other = system_xml(
      "<pci busid=\"0000:01:00.0\" class=\"0x038000\" vendor=\"0x1002\"><gpu dev=\"0\" "
      "sm=\"94\" rank=\"0\" gdr=\"1\"/></pci>");
  CHECK(refusal(read_xml, other).find("the GPU's vendor is 0x1002") != std::string::npos);
}

TEST_CASE("an unknown GPU type is refused with the nearest", "[import]") {
  CHECK_THROWS_AS(matrix(switched, {"", "h100-sxm-80g", {}}), InputError);
}
