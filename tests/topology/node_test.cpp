#include "topology/node.hpp"

#include "sim/base/error.hpp"

#include "tests/support/catch.hpp"

using namespace stepsim;
using namespace stepsim::topology;

namespace {

DataDirectory shipped() { return DataDirectory(STEPSIM_SOURCE_DIRECTORY); }

/// Every problem of a node block, as one text.
std::string problems_of(const std::string& yaml) {
  const Document document = parse_document(yaml, "node.yaml", DocumentFormat::yaml);
  Diagnostics problems;
  read_node(shipped(), document.root, "", problems);
  try {
    problems.throw_if_any();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

const std::string complete = R"(name: mine
device: h100-sxm-80gb
gpus: 8
interconnect: nvswitch
nvlink_bandwidth: { value: 450 GB/s, source: datasheet, note: here }
nvlink_count: { value: 18, source: datasheet, note: here }
pcie_generation: 5
pcie_bandwidth: { value: 64 GB/s, source: datasheet, note: here }
socket_bandwidth: { value: 22 GB/s, source: assumed, note: here }
nics: { value: 8, source: datasheet, note: here }
nic_bandwidth: { value: 400 Gb/s, source: datasheet, note: here }
cpu: intel
)";

std::string with(const std::string& old_text, const std::string& new_text) {
  std::string text = complete;
  text.replace(text.find(old_text), old_text.size(), new_text);
  return text;
}

}  // namespace

TEST_CASE("every node that ships can be read with its device", "[node]") {
  const std::vector<std::string> names = node_names(shipped());
  CHECK(names.size() >= 7);
  for (const std::string& name : names) {
    INFO(name);
    const Node node = load_node(shipped(), name);
    CHECK(node.name == name);
    CHECK_FALSE(node.description.empty());
    CHECK_FALSE(node.device.name.empty());
    CHECK(node.hash.size() == 16);
    CHECK((node.nvlink_count.value > 0) == (node.interconnect != Interconnect::pcie));
  }
}

TEST_CASE("a DGX H100 has eight switched GPUs and eight ports", "[node]") {
  const Node node = load_node(shipped(), "dgx-h100");
  CHECK(node.gpus == 8);
  CHECK(node.device.name == "h100-sxm-80gb");
  CHECK(node.interconnect == Interconnect::nvswitch);
  CHECK(node.in_switch_reduction);
  CHECK(node.nvlink_bandwidth.value.gigabytes_per_second() == Approx(450));
  CHECK(node.nvlink_count.value == 18);
  CHECK(node.nics.value == 8);
  CHECK(node.nic_bandwidth.value.gigabytes_per_second() == Approx(50));
  CHECK(node.cpu == CpuVendor::intel);
}

TEST_CASE("an NVL72 rack is one node of 72 GPUs", "[node]") {
  const Node node = load_node(shipped(), "gb200-nvl72");
  CHECK(node.gpus == 72);
  CHECK(node.cpu == CpuVendor::arm);
}

TEST_CASE("an unknown node is refused with the nearest one", "[node]") {
  try {
    load_node(shipped(), "dgx-h10");
    FAIL("accepted a node that does not exist");
  } catch (const InputError& error) {
    CHECK(error.diagnostics().at(0).suggestion == "dgx-h100");
  }
}

TEST_CASE("a node block is read whole", "[node]") { CHECK(problems_of(complete).empty()); }

TEST_CASE("a node block with a bad value says where and what", "[node]") {
  CHECK(problems_of(with("gpus: 8", "gpus: 0")).find("node.yaml:3:7: gpus") != std::string::npos);
  CHECK(problems_of(with("h100-sxm-80gb", "h100-sxm")).find("node.yaml:2:9: device") !=
        std::string::npos);
  CHECK(problems_of(with("cpu: intel", "cpu: itnel")).find("intel") != std::string::npos);
  CHECK(problems_of(with("400 Gb/s", "400")).find("unit") != std::string::npos);
  CHECK(problems_of(with("gpus: 8", "gpu: 8")).find("did you mean \"gpus\"") != std::string::npos);
}

TEST_CASE("only a switch can reduce", "[node]") {
  const std::string mesh = with("nvswitch", "nvlink_mesh");
  CHECK(problems_of(mesh).empty());
  CHECK(problems_of(mesh + "in_switch_reduction: true\n").find("without a switch") !=
        std::string::npos);
}

TEST_CASE("NVLink keys are refused on a node without NVLink", "[node]") {
  const std::string problems = problems_of(with("nvswitch", "pcie"));
  CHECK(problems.find("nvlink_bandwidth") != std::string::npos);
  CHECK(problems.find("nvlink_count") != std::string::npos);
}
