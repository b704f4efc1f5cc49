#include "calibrate/nccl_comparison.hpp"

#include "sim/base/error.hpp"

#include "tests/support/catch.hpp"

#include <functional>

using namespace stepsim;
using namespace stepsim::calibrate;
using namespace stepsim::topology;

namespace {

const DataDirectory& data() {
  static const DataDirectory directory(STEPSIM_SOURCE_DIRECTORY);
  return directory;
}

Cluster cluster_of(const std::string& node, int nodes) {
  Cluster cluster;
  cluster.node = load_node(data(), node);
  cluster.nodes = nodes;
  cluster.gpus = nodes * cluster.node.gpus;
  return cluster;
}

std::vector<sim::Rank> first_gpus(const Cluster& cluster, int per_node) {
  std::vector<sim::Rank> members;
  for (int node = 0; node < cluster.nodes; ++node) {
    for (int gpu = 0; gpu < per_node; ++gpu) {
      members.push_back(sim::Rank{static_cast<std::uint32_t>(node * cluster.node.gpus + gpu)});
    }
  }
  return members;
}

using Distort = std::function<double(Bytes, double)>;

/// A log as the cluster would give it, every size up to three percent off.
NcclTestsLog log_of(const Cluster& cluster, int per_node, const Distort& distort,
                    const NcclSettings& settings = {},
                    Collective collective = Collective::all_reduce) {
  const CollectiveModel model(data(), cluster, settings);
  const GroupShape group = group_shape(cluster, first_gpus(cluster, per_node));
  NcclTestsLog log;
  log.file = "log.txt";
  log.collective = collective;
  log.ranks = group.ranks;
  log.least_ranks = log.most_ranks = group.ranks;
  std::uint32_t state = 12345;
  for (std::int64_t bytes = 8; bytes <= std::int64_t{8} << 30; bytes *= 2) {
    state = state * 1664525u + 1013904223u;
    const double noise = 1 + 0.03 * (static_cast<double>(state >> 8) / 8388608.0 - 1);
    const double time =
        distort(Bytes(bytes), model.predict(collective, Bytes(bytes), group).time_us);
    NcclTestsRow row;
    row.bytes = Bytes(bytes);
    row.out_of_place = NcclTestsTiming{time * noise, 0, 0};
    log.rows.push_back(row);
  }
  return log;
}

double undistorted(Bytes, double time_us) { return time_us; }

NcclComparison compare(const NcclTestsLog& log, const std::string& node, int nodes) {
  MeasuredRun run;
  run.node = load_node(data(), node);
  run.nodes = nodes;
  return compare_nccl_tests(data(), log, run);
}

std::string first_key(const NcclComparison& comparison) {
  return comparison.suspects.empty() ? "" : comparison.suspects.front().key;
}

using Fault = std::function<void(Cluster&)>;

void check_fault(const std::string& node, int nodes, const Fault& fault, const std::string& key) {
  CAPTURE(node, nodes, key);
  Cluster cluster = cluster_of(node, nodes);
  const int gpus = cluster.node.gpus;
  fault(cluster);
  const NcclComparison comparison = compare(log_of(cluster, gpus, undistorted), node, nodes);
  CHECK(comparison.verdict == CurveVerdict::slow);
  CHECK(comparison.explained);
  CHECK(first_key(comparison) == key);
  if (first_key(comparison) != key) {
    for (const Suspect& suspect : comparison.suspects)
      WARN(suspect.key << ' ' << suspect.error << ' ' << suspect.cause);
  }
}

Fault ports_at(double share) {
  return [share](Cluster& cluster) {
    Bandwidth& rate = cluster.node.nic_bandwidth.value;
    rate = Bandwidth::bytes_per_second(rate.bytes_per_second() * share);
  };
}

void without_nvlink(Cluster& cluster) {
  cluster.node.interconnect = Interconnect::pcie;
  cluster.node.in_switch_reduction = false;
}

}  // namespace

TEST_CASE("a healthy curve is flagged healthy and nobody is suspected") {
  for (const std::string node : {"dgx-h100", "dgx-a100", "dgx-b200", "hgx-h100-4nic"}) {
    for (const int nodes : {1, 2, 4, 16}) {
      CAPTURE(node, nodes);
      const Cluster cluster = cluster_of(node, nodes);
      const NcclComparison comparison =
          compare(log_of(cluster, cluster.node.gpus, undistorted), node, nodes);
      CHECK(comparison.verdict == CurveVerdict::as_expected);
      CHECK(comparison.suspects.empty());
      CHECK_FALSE(comparison.launch);
      CHECK(comparison.large_ratio > 0.95);
      CHECK(comparison.large_ratio < 1.05);
    }
  }
}

TEST_CASE("one port instead of all is the first suspect of its curve") {
  const Fault one = [](Cluster& cluster) { cluster.node.nics.value = 1; };
  for (const int nodes : {2, 4, 16}) {
    check_fault("dgx-h100", nodes, one, "one_port");
    check_fault("dgx-a100", nodes, one, "one_port");
  }
}

TEST_CASE("ports at a tenth to a half of their rate look like no GPUDirect or ACS") {
  for (const double share : {0.1, 0.17, 0.3, 0.4, 0.5}) {
    check_fault("dgx-h100", 4, ports_at(share), "no_gpudirect");
    check_fault("dgx-a100", 2, ports_at(share), "no_gpudirect");
  }
}

TEST_CASE("a plateau of more than half is one slow node, which everybody waits for") {
  for (const double share : {0.55, 0.65, 0.75}) {
    CAPTURE(share);
    const Cluster cluster = cluster_of("dgx-h100", 4);
    const CollectiveModel model(data(), cluster, NcclSettings{});
    const double latency_us =
        model
            .predict(Collective::all_reduce, Bytes(8), group_shape(cluster, first_gpus(cluster, 8)))
            .time_us;
    const Distort slower = [=](Bytes, double time_us) {
      return latency_us + (time_us - latency_us) / share;
    };
    const NcclComparison comparison = compare(log_of(cluster, 8, slower), "dgx-h100", 4);
    CHECK(comparison.verdict == CurveVerdict::slow);
    CHECK(first_key(comparison) == "slow_node");
  }
}

TEST_CASE("PCIe instead of NVLink is the first suspect of its curve") {
  check_fault("dgx-h100", 1, without_nvlink, "pcie");
  check_fault("dgx-a100", 1, without_nvlink, "pcie");
  check_fault("dgx-h100", 4, without_nvlink, "pcie");
}

TEST_CASE("three GPUs that fall back to PCIe are found on a node whose GPUs all have NVLink") {
  Cluster cluster = cluster_of("hgx-a100-4nic", 1);
  without_nvlink(cluster);
  cluster.node.socket_bandwidth.value = Bandwidth::gigabytes_per_second(20);
  const NcclComparison comparison = compare(log_of(cluster, 3, undistorted), "hgx-a100-4nic", 1);
  CHECK(comparison.verdict == CurveVerdict::slow);
  CHECK(first_key(comparison) == "pcie");
}

TEST_CASE("sockets are the first suspect of a few GB/s with slow small messages") {
  for (const double rate : {0.6, 1.2, 3.0}) {
    CAPTURE(rate);
    Cluster cluster = cluster_of("dgx-h100", 4);
    cluster.node.nics.value = 1;
    cluster.node.nic_bandwidth.value = Bandwidth::gigabytes_per_second(rate);
    const Distort later = [](Bytes, double time_us) { return time_us + 150; };
    const NcclComparison comparison = compare(log_of(cluster, 8, later), "dgx-h100", 4);
    CHECK(comparison.verdict == CurveVerdict::slow);
    CHECK(first_key(comparison) == "sockets");
  }
}

TEST_CASE("congestion is found with the size at which it sets in") {
  for (const int mib : {16, 64, 256}) {
    CAPTURE(mib);
    const Bytes knee(std::int64_t{mib} << 20);
    const Distort falls = [knee](Bytes bytes, double time_us) {
      return bytes < knee ? time_us : 5 * time_us;
    };
    const NcclComparison comparison =
        compare(log_of(cluster_of("dgx-h100", 4), 8, falls), "dgx-h100", 4);
    CHECK(comparison.verdict == CurveVerdict::slow);
    REQUIRE(first_key(comparison) == "congestion");
    CHECK(comparison.suspects[0].cause.find("from " + std::to_string(mib) + " MiB") !=
          std::string::npos);
  }
}

TEST_CASE("oversubscribed uplinks are among the suspects of a slow large group") {
  Cluster cluster = cluster_of("dgx-h100", 16);
  cluster.fabric = FabricKind::fat_tree;
  cluster.nodes_per_leaf = 1;
  cluster.oversubscription = 4;
  const NcclComparison comparison = compare(log_of(cluster, 8, undistorted), "dgx-h100", 16);
  CHECK(comparison.verdict == CurveVerdict::slow);
  bool found = false;
  for (const Suspect& suspect : comparison.suspects) found |= suspect.key == "oversubscription";
  CHECK(found);
}

TEST_CASE("NVLS that is off is the first suspect of an all-reduce at the ring's rate") {
  NcclSettings off;
  off.nvls = NcclSettings::Nvls::off;
  const NcclComparison comparison =
      compare(log_of(cluster_of("dgx-h100", 1), 8, undistorted, off), "dgx-h100", 1);
  CHECK(comparison.verdict == CurveVerdict::slow);
  CHECK(first_key(comparison) == "nvls_off");
}

TEST_CASE("an all-reduce that ends at the ring's rate is NVLS that is off, whatever comes before") {
  const auto straight = [](Bytes bytes, double) {
    return 22 + 1.75 * static_cast<double>(bytes.count()) / 368e3;
  };
  const NcclComparison comparison =
      compare(log_of(cluster_of("dgx-h100", 1), 8, straight), "dgx-h100", 1);
  CHECK(comparison.verdict == CurveVerdict::slow);
  CHECK(first_key(comparison) == "nvls_off");
}

TEST_CASE("a slow launch delays small messages and leaves large ones alone") {
  const Distort later = [](Bytes, double time_us) { return time_us + 100; };
  const NcclComparison comparison =
      compare(log_of(cluster_of("dgx-h100", 1), 8, later), "dgx-h100", 1);
  CHECK(comparison.verdict == CurveVerdict::as_expected);
  REQUIRE(comparison.launch);
  CHECK(comparison.launch->cause.find("every call takes 1") == 0);
}

TEST_CASE("a curve that is faster than expected names what would make it so") {
  Cluster cluster = cluster_of("hgx-h100-4nic", 4);
  cluster.node.nics.value = 8;
  const NcclComparison comparison = compare(log_of(cluster, 8, undistorted), "hgx-h100-4nic", 4);
  CHECK(comparison.verdict == CurveVerdict::fast);
  CHECK(first_key(comparison) == "faster_ports");
}

TEST_CASE("a curve that nothing explains is said to be so") {
  const Distort wild = [](Bytes bytes, double time_us) {
    const bool odd = __builtin_ctzll(static_cast<unsigned long long>(bytes.count())) % 2 != 0;
    return odd ? 30 * time_us : time_us;
  };
  const NcclComparison comparison =
      compare(log_of(cluster_of("dgx-h100", 4), 8, wild), "dgx-h100", 4);
  CHECK(comparison.verdict == CurveVerdict::slow);
  CHECK_FALSE(comparison.explained);
}

TEST_CASE("a run that cannot be the log's is refused") {
  const NcclTestsLog log = log_of(cluster_of("dgx-h100", 2), 8, undistorted);
  MeasuredRun run;
  run.node = load_node(data(), "dgx-h100");
  CHECK(compare_nccl_tests(data(), log, run).measured.cluster.nodes == 2);
  run.nodes = 1;
  CHECK_THROWS_AS(compare_nccl_tests(data(), log, run), InputError);
  run.nodes = 2;
  run.gpus = 8;
  CHECK_THROWS_AS(compare_nccl_tests(data(), log, run), InputError);
  run.gpus = -1;
  CHECK_THROWS_AS(compare_nccl_tests(data(), log, run), InputError);
}
