/// What holds of every collective, tried on random clusters; and CollNet.

#include "topology/collective.hpp"

#include "tests/support/catch.hpp"
#include "tests/topology/cluster_fixture.hpp"

using namespace stepsim;
using namespace stepsim::topology;

namespace {}  // namespace

TEST_CASE("with everything else fixed, faster wires and shorter latencies never slow a collective",
          "[collective]") {
  std::uint32_t state = 7;
  const auto random = [&](std::uint32_t below) {
    state = state * 1664525U + 1013904223U;
    return (state >> 8) % below;
  };
  const char* nodes[] = {"dgx-a100", "dgx-h100", "dgx-b200", "hgx-h100-4nic", "h100-pcie-box"};
  const char* protocols[] = {"LL", "LL128", "Simple"};
  int compared = 0;
  for (int i = 0; i < 400; ++i) {
    Cluster slow = cluster_of(nodes[random(5)], 1 + static_cast<int>(random(6)));
    slow.fabric = random(2) == 0 ? FabricKind::fat_tree : FabricKind::rail_optimized;
    slow.nodes_per_leaf = 2;
    slow.oversubscription = 1 + random(5);
    slow.network_latency = Time::picoseconds(std::int64_t{1'000'000} * (1 + random(20)));
    Cluster fast = slow;
    switch (random(5)) {
      case 0:
        fast.oversubscription = 1;
        break;
      case 1:
        fast.network_latency = Time::zero();
        break;
      case 2:
        fast.node.nic_bandwidth.value = Bandwidth::bytes_per_second(
            slow.node.nic_bandwidth.value.bytes_per_second() * (1 + random(4)));
        break;
      case 3:
        fast.node.socket_bandwidth.value = Bandwidth::bytes_per_second(
            slow.node.socket_bandwidth.value.bytes_per_second() * (1 + random(4)));
        break;
      default:
        fast.node.nvlink_bandwidth.value = Bandwidth::bytes_per_second(
            slow.node.nvlink_bandwidth.value.bytes_per_second() * (1 + random(4)));
    }
    NcclSettings settings;
    settings.algorithm = random(2) == 0 ? "ring" : "tree";
    settings.protocol = protocols[random(3)];
    settings.most_channels = static_cast<int>(1 + random(8));
    const Collective collective = all_collectives[random(6)];
    const GroupShape group = group_for(slow, collective, slow.nodes);
    const Bytes bytes(std::int64_t{1} << (10 + random(22)));
    const auto predict = [&](const Cluster& cluster) {
      return CollectiveModel(shipped(), cluster, settings, CalibrationUse::nccl_alone)
          .predict(collective, bytes, group);
    };
    const CollectivePrediction before = predict(slow);
    const CollectivePrediction after = predict(fast);
    if (before.algorithm != after.algorithm || before.protocol != after.protocol ||
        before.channels != after.channels) {
      continue;
    }
    ++compared;
    INFO(slow.node.name << " " << slow.nodes << " " << to_string(collective) << " " << bytes.count()
                        << " " << before.algorithm << "/" << before.protocol);
    CHECK(after.time_us <= before.time_us * (1 + 1e-9));
  }
  CHECK(compared > 200);
}

TEST_CASE("SHARP on A100 nodes, which have no NVLS, is CollNet", "[collective]") {
  const Cluster cluster = cluster_of("dgx-a100", 16);
  const GroupShape group = group_of(cluster, 16, 8);
  NcclSettings settings;
  const auto algorithm = [&](Bytes bytes) {
    return CollectiveModel(shipped(), cluster, settings, CalibrationUse::nccl_alone)
        .predict(Collective::all_reduce, bytes, group)
        .algorithm;
  };
  CHECK(algorithm(Bytes(64 * mebibyte)) == "tree");
  settings.sharp = NcclSettings::Sharp::on;
  CHECK(algorithm(Bytes(64 * mebibyte)) == "collnet_direct");
  settings.algorithm = "collnet_chain";
  CHECK(algorithm(Bytes(64 * mebibyte)) == "collnet_chain");
  // 8.4 us of base is the tree's and ring's; CollNet has none: twice (3.7 + 7 x 0.4) + 31.
  settings.algorithm = "collnet_direct";
  const auto small = CollectiveModel(shipped(), cluster, settings, CalibrationUse::nccl_alone)
                         .predict(Collective::all_reduce, Bytes(1), group);
  CHECK(small.latency_us == Approx(2 * (3.7 + 7 * 0.4) + 31));
  CHECK(small.assumed == false);
}
