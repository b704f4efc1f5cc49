#include "tests/support/catch.hpp"
#include "tests/topology/nccl_fixture.hpp"

using namespace stepsim;
using namespace stepsim::topology::nccl;

namespace {

void check_graph(const ChannelGraph& graph, int channels, double inside, double between) {
  CHECK(graph.channels == channels);
  CHECK(graph.inside == Approx(inside));
  CHECK(graph.between == Approx(between));
}

struct DerivedGraphs {
  const char* node;
  int nodes;
  int ring_channels;
  double ring_speed;
  int collective_channels;
  bool simple_tree;
};

}  // namespace

TEST_CASE("rings and trees of switched nodes get the channels NCCL gives them", "[nccl]") {
  const DerivedGraphs rows[] = {
      {"dgx-a100", 1, 12, 20, 24, false}, {"dgx-a100", 2, 8, 24, 16, false},
      {"dgx-h100", 1, 12, 30, 24, false}, {"dgx-h100", 4, 8, 48, 16, true},
      {"dgx-h200", 1, 12, 30, 24, false}, {"dgx-b200", 1, 16, 45, 32, false},
      {"dgx-b200", 16, 8, 48, 16, true}};
  for (const DerivedGraphs& row : rows) {
    INFO(row.node << " x " << row.nodes);
    const Graphs graphs = TestSystem(row.node).communicator(row.nodes).graphs;
    check_graph(graphs.ring, row.ring_channels, row.ring_speed, row.ring_speed);
    check_graph(graphs.tree, row.ring_channels, row.ring_speed, row.ring_speed);
    CHECK(graphs.collective_channels == row.collective_channels);
    CHECK((graphs.tree_pattern == TreePattern::simple) == row.simple_tree);
  }
}

TEST_CASE("NVLS of whole nodes gets one channel a GPU", "[nccl]") {
  check_graph(TestSystem("dgx-h100").communicator(1).graphs.nvls, 8, 40, 60);
  check_graph(TestSystem("dgx-h100").communicator(2).graphs.nvls, 8, 40, 48);
  check_graph(TestSystem("dgx-b200").communicator(1).graphs.nvls, 8, 80, 90);
  check_graph(TestSystem("dgx-b200").communicator(2).graphs.nvls, 8, 48, 48);
  CHECK(TestSystem("dgx-h100").communicator(1).graphs.nvls_channels == 16);
  CHECK(TestSystem("dgx-b200").communicator(1).graphs.nvls_channels == 24);
  CHECK(TestSystem("dgx-a100").communicator(1).graphs.nvls.channels == 0);
}

TEST_CASE("NVLS of part of a node is as fast as the switch links allow", "[nccl]") {
  const double h200[] = {60, 60, 50, 40};
  for (int gpus = 4; gpus <= 7; ++gpus) {
    INFO(gpus << " GPUs");
    const ChannelGraph nvls = TestSystem("dgx-h200").communicator(1, gpus).graphs.nvls;
    CHECK(nvls.channels == gpus);
    CHECK(nvls.inside == Approx(h200[gpus - 4]));
    const ChannelGraph b200 = TestSystem("dgx-b200").communicator(1, gpus).graphs.nvls;
    CHECK(b200.channels == gpus);
    CHECK(b200.inside == Approx(90));
  }
}

TEST_CASE("a ring over part of a node keeps its speed", "[nccl]") {
  for (int gpus = 2; gpus <= 7; ++gpus) {
    check_graph(TestSystem("dgx-h100").communicator(1, gpus).graphs.ring, 12, 30, 30);
  }
}

TEST_CASE("four ports of 200 Gb/s carry four ring channels", "[nccl]") {
  // NVIDIA/nccl-tests issue 119: 24 A100 over 4 HDR ports peak at 96 GB/s.
  check_graph(TestSystem("hgx-a100-4nic").communicator(3).graphs.ring, 4, 24, 24);
}

TEST_CASE("one GPU a node has one port and splits it in two channels", "[nccl]") {
  check_graph(TestSystem("dgx-h100").communicator(16, 1).graphs.ring, 2, 24, 24);
}

TEST_CASE("a PCIe box has one ring through its sockets", "[nccl]") {
  const Graphs graphs = TestSystem("h100-pcie-box").communicator(1).graphs;
  CHECK(graphs.ring.channels * graphs.ring.inside == Approx(40));
  CHECK(graphs.nvls.channels == 0);
}

TEST_CASE("faster links never give a slower ring", "[nccl]") {
  const TestSystem system("dgx-h100");
  for (const int nodes : {1, 4}) {
    double previous = 0;
    for (double scale = 0.25; scale <= 4; scale *= 1.1) {
      NodeLinks links = system.links();
      links.nvlink *= scale;
      links.port *= scale;
      const ChannelGraph ring =
          search_graphs(links, {8 * nodes, nodes, 8, 8}, system.search()).ring;
      INFO(nodes << " nodes, links x " << scale);
      CHECK(ring.channels * ring.inside >= previous * 0.999999);
      previous = std::max(previous, ring.channels * ring.inside);
    }
  }
}
