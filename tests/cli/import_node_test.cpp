#include "tests/cli/command.hpp"
#include "tests/support/catch.hpp"

using namespace stepsim::test;

namespace {

const std::string matrix = "docs/samples/pairs_topo.txt";
const std::string pcie = " --device a100-pcie-80gb";

const char* const xml = R"(<system version="1">
  <cpu numaid="0" affinity="ffff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:0c:00.0" class="0x030200" vendor="0x10de" device="0x2330" link_speed="32.0 GT/s PCIe" link_width="16">
      <gpu dev="0" sm="90" rank="0" gdr="1"><nvlink target="ffff:ff:ff.0" count="18" tclass="0x068000"/></gpu>
    </pci>
    <pci busid="0000:1c:00.0" class="0x030200" vendor="0x10de" device="0x2330" link_speed="32.0 GT/s PCIe" link_width="16">
      <gpu dev="1" sm="90" rank="1" gdr="1"><nvlink target="ffff:ff:ff.0" count="18" tclass="0x068000"/></gpu>
    </pci>
    <pci busid="0000:2c:00.0" class="0x020700" vendor="0x15b3" device="0x1021" link_speed="32.0 GT/s PCIe" link_width="16">
      <nic><net name="mlx5_0" dev="0" speed="400000" port="1" maxconn="131072" gdr="1"/></nic>
    </pci>
  </cpu>
</system>
)";

std::string scenario(const std::string& node, int nodes) {
  return "model: llama3.2-1b\ncluster: { node: " + node + ", nodes: " + std::to_string(nodes) +
         " }\nplan: { strategy: fsdp2 }\n"
         "training: { sequence_length: 2048, micro_batch: 1, global_batch: 8 }\n";
}

}  // namespace

TEST_CASE("an imported matrix is a node file that says what was assumed, and loads") {
  const Scratch scratch;
  const std::string file = scratch.path("box.yaml");
  const Outcome outcome = run_stepsim("import topo " + matrix + pcie + " -o " + file);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out.empty());
  const std::string text = read_file(file);
  CHECK(text.rfind("# ", 0) == 0);
  CHECK(contains(text, "nvlink_domain: 2"));
  CHECK(run_stepsim("import topo " + matrix + pcie).out == text);
  CHECK(scratch.names() == std::vector<std::string>{"box.yaml"});
  const std::string job = scratch.write("job.yaml", scenario("box.yaml", 2));
  CHECK(stepsim_json("run " + job).at("simulation").at("ranks") == 8);
}

TEST_CASE("an imported NCCL topology file loads as the node that it describes") {
  const Scratch scratch;
  const std::string box = scratch.write("box.xml", xml);
  const std::string file = scratch.path("box.yaml");
  const std::string options = " --name our-box --port '200 Gb/s' -o " + file;
  CHECK(run_stepsim("import nccl-xml " + box + options).exit_code == 0);
  const std::string text = read_file(file);
  CHECK(contains(text, "name: \"our-box\""));
  CHECK(contains(text, "device: h100-sxm-80gb"));
  const std::string job = scratch.write("job.yaml", scenario("box.yaml", 4));
  CHECK(stepsim_json("run " + job).at("simulation").at("ranks") == 8);
}

TEST_CASE("a box that cannot be imported names the file and leaves the output alone") {
  const Scratch scratch;
  const std::string file = scratch.write("box.yaml", "as it was\n");
  const std::string broken = scratch.write("broken.txt", "no matrix\n");
  for (const std::string kind : {"topo ", "nccl-xml "}) {
    for (const std::string& input : {broken, scratch.path("none.txt")}) {
      const Outcome outcome = run_stepsim("import " + kind + input + " -o " + file);
      CHECK(outcome.exit_code == 2);
      CHECK(contains(outcome.err, input));
    }
  }
  CHECK(read_file(file) == "as it was\n");
  const Outcome rate = run_stepsim("import topo " + matrix + pcie + " --port 200");
  CHECK(rate.exit_code == 2);
  CHECK(contains(rate.err, "has no unit"));
}
