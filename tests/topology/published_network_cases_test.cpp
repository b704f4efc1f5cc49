/// What users report of their networks, as far as GPUs, nodes and ports are stated.

#include "topology/collective.hpp"
#include "topology/link_load.hpp"

#include "tests/support/catch.hpp"
#include "tests/topology/cluster_fixture.hpp"

using namespace stepsim;
using namespace stepsim::topology;

namespace {

constexpr std::int64_t gibibyte = 1 << 30;

GroupShape everyone(const Cluster& cluster) {
  std::vector<sim::Rank> members;
  for (int i = 0; i < cluster.gpus; ++i) members.push_back({static_cast<std::uint32_t>(i)});
  return group_shape(cluster, members);
}

CollectivePrediction all_reduce(const Cluster& cluster, std::int64_t bytes,
                                const NcclSettings& settings = {}) {
  return CollectiveModel(shipped(), cluster, settings)
      .predict(Collective::all_reduce, Bytes(bytes), everyone(cluster));
}

}  // namespace

TEST_CASE("24 A100 over four HDR ports reach most of the ports' 100 GB/s", "[published]") {
  // NVIDIA/nccl-tests issue 119: 96 GB/s at best.
  const auto prediction = all_reduce(cluster_of("hgx-a100-4nic", 3), 8 * gibibyte);
  CHECK(prediction.bus_bandwidth_gb_per_s == Approx(96).epsilon(0.03));
}

TEST_CASE("large all-reduces between A100 nodes depend on whose network it is", "[published]") {
  // Oracle's RoCE, NCCL 2.29.3: 188.5 GB/s at 4 GiB on two nodes. Azure ND A100 v4 (NetX-lab/Echo):
  // 127 GB/s at 4 GiB, on two nodes and on four.
  CHECK(all_reduce(cluster_of("dgx-a100", 2), 4 * gibibyte).bus_bandwidth_gb_per_s ==
        Approx(188.5).epsilon(0.05));
  for (const int nodes : {2, 4}) {
    CHECK(all_reduce(cluster_of("azure-nd-a100-v4", nodes), 4 * gibibyte).bus_bandwidth_gb_per_s ==
          Approx(126).epsilon(0.05));
  }
  CHECK(all_reduce(cluster_of("dgx-a100", 16), gibibyte).assumed);
}

TEST_CASE("rings show the wires' rate; a tree between two nodes may show more", "[published]") {
  // NVIDIA/nccl-tests issue 232, NVIDIA/nccl issues 1357 and 196: bus bandwidth counts what a ring
  // sends. Two nodes 8 GPUs: a ring sends 15/8 of the bytes out of a node, a tree once.
  const Cluster cluster = cluster_of("dgx-a100", 2);
  const GroupShape group = everyone(cluster);
  const auto out_of_node = [&](const char* algorithm) {
    for (const LinkLoad& load : link_loads(cluster, Collective::all_reduce, algorithm, group, 25)) {
      if (load.link == LinkClass::port) return load.share;
    }
    return 0.0;
  };
  CHECK(out_of_node("ring") == Approx(15.0 / 8));
  CHECK(out_of_node("tree") == Approx(1));
  NcclSettings ring;
  ring.algorithm = "ring";
  CHECK(all_reduce(cluster, 8 * gibibyte, ring).bus_bandwidth_gb_per_s < 200);
}

TEST_CASE("one GPU a node gets no more than its PCIe link out of four ports", "[published]") {
  // NVIDIA/nccl-tests issue 232: 50 of 200 GB/s.
  Cluster cluster = cluster_of("dgx-h100", 4);
  cluster.node.gpus = 1;
  cluster.node.nics.value = 4;
  cluster.gpus = 4;
  const CollectiveModel model(shipped(), cluster, "2.27.7", CalibrationUse::nccl_alone);
  const auto prediction =
      model.predict(Collective::all_reduce, Bytes(8 * gibibyte), everyone(cluster));
  CHECK(prediction.bus_bandwidth_gb_per_s <= 50);
  CHECK(prediction.bus_bandwidth_gb_per_s > 35);
}

TEST_CASE("five nodes of H100 with four ports: ring 190 GB/s, tree 150", "[published]") {
  // NVIDIA/nccl issue 1368.
  const Cluster cluster = cluster_of("hgx-h100-4nic", 5);
  NcclSettings settings;
  settings.algorithm = "ring";
  CHECK(all_reduce(cluster, 8 * gibibyte, settings).bus_bandwidth_gb_per_s ==
        Approx(190).epsilon(0.05));
  settings.algorithm = "tree";
  CHECK(all_reduce(cluster, 8 * gibibyte, settings).bus_bandwidth_gb_per_s ==
        Approx(150).epsilon(0.2));
}

TEST_CASE("eight H100 reduce small messages in 20 to 25 us and a gibibyte in 4 ms", "[published]") {
  // marin-community/marin issue 6736, nccl-tests. The host's own launch of a PyTorch collective, of
  // some 100 us (IBM/pytorch-communication-benchmarks issue 1), is not in there.
  const Cluster cluster = cluster_of("dgx-h100", 1);
  CHECK(all_reduce(cluster, gibibyte).time_us == Approx(4060).epsilon(0.05));
  for (std::int64_t bytes = 8; bytes <= 256 * 1024; bytes *= 8) {
    const double time = all_reduce(cluster, bytes).time_us;
    CHECK(time > 12);
    CHECK(time < 32);
  }
  CHECK(all_reduce(cluster, mebibyte).time_us < 45);
}

TEST_CASE("a switched node of H200 or B200 reduces and gathers at the published rates",
          "[published]") {
  // stas00/ml-engineering, NCCL 2.27.7: H200 NVLS 480 GB/s at 16 GiB, ring 367; B200 838.
  const auto bus = [](const char* node, const char* algorithm, std::int64_t bytes) {
    NcclSettings settings;
    settings.algorithm = algorithm;
    return all_reduce(cluster_of(node, 1), bytes, settings).bus_bandwidth_gb_per_s;
  };
  CHECK(bus("dgx-h200", "", 16 * gibibyte) == Approx(480).epsilon(0.05));
  CHECK(bus("dgx-h200", "ring", 16 * gibibyte) == Approx(367).epsilon(0.05));
  CHECK(bus("dgx-b200", "", 8 * gibibyte) == Approx(838).epsilon(0.08));
}

TEST_CASE("NVL72 racks reduce at the published rates, and what lies between is assumed",
          "[published]") {
  // coreweave/nccl-tests, NCCL 2.26.2.
  const auto bus = [](int racks, double gibibytes) {
    return all_reduce(cluster_of("gb200-nvl72", racks),
                      static_cast<std::int64_t>(gibibytes * gibibyte))
        .bus_bandwidth_gb_per_s;
  };
  CHECK(bus(1, 0.5) == Approx(586).epsilon(0.05));
  CHECK(bus(1, 8) == Approx(835).epsilon(0.05));
  CHECK(bus(2, 16) == Approx(810).epsilon(0.05));
  CHECK(bus(20, 16) == Approx(406).epsilon(0.05));
  const Cluster rack = cluster_of("gb200-nvl72", 1);
  std::vector<sim::Rank> half;
  for (std::uint32_t i = 0; i < 36; ++i) half.push_back({i});
  const CollectiveModel model(shipped(), rack, "2.27.7");
  CHECK(model.predict(Collective::all_reduce, Bytes(gibibyte), group_shape(rack, half)).assumed);
  CHECK(all_reduce(cluster_of("gb200-nvl72", 8), gibibyte).assumed);
  // A rack gathers within what one GPU's NVLinks carry.
  const auto gather = model.predict(Collective::all_gather, Bytes(8 * gibibyte), everyone(rack));
  CHECK(gather.bus_bandwidth_gb_per_s < 900);
  CHECK(gather.bus_bandwidth_gb_per_s > 450);
}
