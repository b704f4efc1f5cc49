#include "topology/collective.hpp"

#include "topology/link_load.hpp"

#include "sim/base/error.hpp"

#include "tests/support/catch.hpp"
#include "tests/topology/cluster_fixture.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

using namespace stepsim;
using namespace stepsim::topology;

namespace {

CollectiveModel nccl_alone(const Cluster& cluster, const std::string& version = "2.30.7") {
  return CollectiveModel(shipped(), cluster, version, CalibrationUse::nccl_alone);
}

}  // namespace

TEST_CASE("at powers of two the model without calibration is NCCL's prediction", "[collective]") {
  std::ifstream file(std::string(STEPSIM_SOURCE_DIRECTORY) +
                     "/tests/topology/nccl_golden_choices.csv");
  REQUIRE(file.good());
  std::string line;
  std::getline(file, line);
  int rows = 0;
  while (std::getline(file, line)) {
    std::istringstream text(line);
    std::vector<std::string> cells;
    for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
    const int nodes = std::stoi(cells[1]);
    const Cluster cluster = cluster_of(cells[0], nodes);
    const auto collective =
        cells[2] == "all_reduce" ? Collective::all_reduce : Collective::all_gather;
    const CollectivePrediction prediction = nccl_alone(cluster).predict(
        collective, Bytes(std::stoll(cells[3])), group_of(cluster, nodes, 8));
    INFO(line << ", here " << prediction.time_us);
    CHECK(prediction.algorithm == cells[4]);
    CHECK(prediction.protocol == cells[5]);
    CHECK(std::abs(prediction.time_us - std::stod(cells[6])) <= 0.0501);
    ++rows;
  }
  CHECK(rows == 270);
}

TEST_CASE("a group of one, or no bytes, costs nothing", "[collective]") {
  const Cluster cluster = cluster_of("dgx-h100", 2);
  const CollectiveModel model(shipped(), cluster, "2.27.7");
  for (const Collective collective : all_collectives) {
    const GroupShape alone = group_of(cluster, 1, 1);
    CHECK(model.cost(collective, Bytes(mebibyte), alone).latency == Time::zero());
    CHECK(model.cost(collective, Bytes(mebibyte), alone).transfer == Time::zero());
    CHECK(model.predict(collective, Bytes(0), group_of(cluster, 2, 8)).time_us == 0);
  }
}

TEST_CASE("a collective never gets faster as its bytes grow", "[collective]") {
  for (const std::string& node : node_names(shipped())) {
    for (const CalibrationUse use : {CalibrationUse::calibrated, CalibrationUse::nccl_alone}) {
      for (const int nodes : {1, 2, 5}) {
        const Cluster cluster = cluster_of(node, nodes);
        const CollectiveModel model(shipped(), cluster, "2.27.7", use);
        for (const Collective collective : all_collectives) {
          const GroupShape group = group_for(cluster, collective, nodes);
          double previous = 0;
          Time previous_cost;
          for (std::int64_t bytes = 1; bytes < std::int64_t{1} << 37; bytes += 1 + bytes / 3) {
            const double time = model.predict(collective, Bytes(bytes), group).time_us;
            const sim::CollectiveCost cost = model.cost(collective, Bytes(bytes), group);
            INFO(node << " x " << nodes << " " << to_string(collective) << " " << bytes << " B");
            CHECK(time >= previous);
            // Latency and transfer are rounded to a picosecond each.
            CHECK(cost.latency + cost.transfer + Time::picoseconds(2) >= previous_cost);
            previous = time;
            previous_cost = cost.latency + cost.transfer;
          }
        }
      }
    }
  }
}

TEST_CASE("the engine's cost is the prediction in whole picoseconds", "[collective]") {
  const Cluster cluster = cluster_of("dgx-h100", 4);
  const CollectiveModel model = nccl_alone(cluster);
  const GroupShape node = group_of(cluster, 1, 8);
  // 8.4 + 7 × 3.4 = 32.2 µs and 256 MiB at 411.43 GB/s: a ring of eight at 360 GB/s.
  const sim::CollectiveCost cost = model.cost(Collective::all_gather, Bytes(256 * mebibyte), node);
  CHECK(cost.algorithm == "ring/Simple");
  CHECK(cost.latency == Time::picoseconds(32'200'000));
  CHECK(cost.transfer.microseconds() == Approx(256 * 1.048576e6 / 411428.571).epsilon(1e-6));
}

TEST_CASE("faster links never slow a collective of one algorithm", "[collective]") {
  const Cluster slow = cluster_of("dgx-h100", 4);
  Cluster fast = slow;
  fast.node.nic_bandwidth.value = Bandwidth::bits_per_second(800e9);
  const GroupShape group = group_of(slow, 4, 8);
  for (const Collective collective : {Collective::all_gather, Collective::all_to_all}) {
    for (std::int64_t bytes = 1024; bytes < std::int64_t{1} << 34; bytes *= 4) {
      const auto before = nccl_alone(slow).predict(collective, Bytes(bytes), group);
      const auto after = nccl_alone(fast).predict(collective, Bytes(bytes), group);
      INFO(to_string(collective) << " " << bytes);
      if (before.algorithm != after.algorithm || before.protocol != after.protocol) continue;
      CHECK(after.time_us <= before.time_us * (1 + 1e-12));
    }
  }
}

TEST_CASE("groups that share a port take longer than one that has its own", "[collective]") {
  const Cluster whole = cluster_of("dgx-h100", 4);
  const Cluster half = cluster_of("hgx-h100-4nic", 4);
  const auto time = [](const Cluster& cluster) {
    return nccl_alone(cluster)
        .predict(Collective::all_gather, Bytes(1024 * mebibyte), group_of(cluster, 4, 1))
        .time_us;
  };
  CHECK(time(half) / time(whole) == Approx(2).epsilon(0.02));
}

TEST_CASE("an oversubscribed fabric slows only groups that cross leaves", "[collective]") {
  Cluster cluster = cluster_of("dgx-h100", 8);
  cluster.fabric = FabricKind::fat_tree;  // four nodes a leaf
  Cluster narrow = cluster;
  narrow.oversubscription = 8;
  const auto ratio = [&](Collective collective, const std::vector<int>& nodes) {
    std::vector<sim::Rank> members;
    for (const int node : nodes) {
      for (int gpu = 0; gpu < 8; ++gpu) {
        members.push_back(sim::Rank{static_cast<std::uint32_t>(8 * node + gpu)});
      }
    }
    const GroupShape group = group_shape(cluster, members);
    const Bytes bytes(4096 * mebibyte);
    return nccl_alone(narrow).predict(collective, bytes, group).time_us /
           nccl_alone(cluster).predict(collective, bytes, group).time_us;
  };
  CHECK(ratio(Collective::all_gather, {0, 1, 2, 3}) == Approx(1));
  // A ring sends one node's traffic up from each leaf: against four nodes' uplinks cut by eight.
  CHECK(ratio(Collective::all_gather, {0, 1, 2, 3, 4, 5, 6, 7}) == Approx(2).epsilon(0.02));
  CHECK(ratio(Collective::all_gather, {0, 4}) == Approx(8).epsilon(0.02));
  CHECK(ratio(Collective::all_to_all, {0, 4}) == Approx(8).epsilon(0.02));
  // Of four nodes on two leaves, 3/4 leaves a node and 1/2 a leaf.
  CHECK(ratio(Collective::all_to_all, {0, 1, 4, 5}) == Approx(8 * 0.5 / 0.75).epsilon(0.02));
}

TEST_CASE("pods of Llama 3's cluster cost a global all-reduce more than one inside",
          "[collective]") {
  // 3,072 GPUs a pod, 1:7 between pods (arXiv 2407.21783, section 3.3.1).
  Cluster cluster = cluster_of("dgx-h100", 768);
  cluster.nodes_per_pod = 384;
  cluster.pod_oversubscription = 7;
  const Bytes bytes(std::int64_t{4096} * mebibyte);
  const CollectiveModel model = nccl_alone(cluster);
  // One node of each pod: all its traffic crosses, against a seventh of its ports.
  std::vector<sim::Rank> members;
  for (int gpu = 0; gpu < 8; ++gpu) {
    members.push_back(sim::Rank{static_cast<std::uint32_t>(gpu)});
    members.push_back(sim::Rank{static_cast<std::uint32_t>(384 * 8 + gpu)});
  }
  const double across =
      model.predict(Collective::all_gather, bytes, group_shape(cluster, members)).time_us;
  const double inside =
      model.predict(Collective::all_gather, bytes, group_of(cluster, 2, 8)).time_us;
  CHECK(across / inside == Approx(7).epsilon(0.02));
  // The whole cluster: a ring crosses once each way, against 384 nodes' uplinks.
  Cluster flat = cluster;
  flat.pod_oversubscription = 1;
  CHECK(model.predict(Collective::all_gather, bytes, group_of(cluster, 768, 8)).time_us ==
        nccl_alone(flat).predict(Collective::all_gather, bytes, group_of(flat, 768, 8)).time_us);
}

TEST_CASE("an all-to-all between N nodes reaches N/(N-1) of the port's rate", "[collective]") {
  // NVIDIA/nccl-tests issues 130 and 267: bus bandwidth against what a GPU's port carries.
  for (const int nodes : {2, 4, 8}) {
    const Cluster cluster = cluster_of("dgx-h100", nodes);
    const CollectivePrediction prediction = nccl_alone(cluster).predict(
        Collective::all_to_all, Bytes(std::int64_t{8192} * mebibyte), group_of(cluster, nodes, 8));
    INFO(nodes << " nodes");
    // The bus factor is (n-1)/n where n counts ranks; the share that leaves is (N-1)/N.
    const double expected = 48.0 * nodes / (nodes - 1) * (8 * nodes - 1) / (8 * nodes);
    CHECK(prediction.bus_bandwidth_gb_per_s == Approx(expected).epsilon(0.01));
  }
}

TEST_CASE("eight H100 reduce at the bandwidth users report", "[collective]") {
  // NVIDIA/nccl-tests issues 212 and 290: NVLS all-reduce 476 to 480 GB/s, the others about 370.
  const Cluster cluster = cluster_of("dgx-h100", 1);
  const GroupShape node = group_of(cluster, 1, 8);
  const Bytes bytes(std::int64_t{8192} * mebibyte);
  const CollectiveModel model(shipped(), cluster, "2.28.3");
  CHECK(model.predict(Collective::all_reduce, bytes, node).bus_bandwidth_gb_per_s ==
        Approx(478).epsilon(0.04));
  CHECK(model.predict(Collective::all_gather, bytes, node).bus_bandwidth_gb_per_s ==
        Approx(365).epsilon(0.05));
}

TEST_CASE("24 A100 over four HDR ports stay under the ports' 100 GB/s", "[collective]") {
  // NVIDIA/nccl-tests issue 119: 96 GB/s at best.
  const Cluster cluster = cluster_of("hgx-a100-4nic", 3);
  const CollectivePrediction prediction = nccl_alone(cluster).predict(
      Collective::all_reduce, Bytes(std::int64_t{8192} * mebibyte), group_of(cluster, 3, 8));
  CHECK(prediction.bus_bandwidth_gb_per_s == Approx(96).epsilon(0.02));
}

TEST_CASE("a shape nobody measured is marked as assumed", "[collective]") {
  const Cluster cluster = cluster_of("h100-pcie-box", 2);
  const CollectiveModel model(shipped(), cluster, "2.27.7");
  CHECK(model.predict(Collective::all_reduce, Bytes(mebibyte), group_of(cluster, 1, 8)).assumed);
}

TEST_CASE("impossible groups and sizes are our mistake", "[collective]") {
  const Cluster cluster = cluster_of("dgx-h100", 2);
  const CollectiveModel model = nccl_alone(cluster);
  CHECK_THROWS_AS(model.predict(Collective::all_reduce, Bytes(-1), group_of(cluster, 1, 8)),
                  InternalError);
  CHECK_THROWS_AS(model.predict(Collective::all_reduce, Bytes(1), GroupShape{2, 4, 1, 1, 1, 1, 1}),
                  InternalError);
}

TEST_CASE("even the largest number of bytes has an answer or a clear error", "[collective]") {
  const Cluster cluster = cluster_of("dgx-h100", 2);
  const CollectiveModel model = nccl_alone(cluster);
  const GroupShape group = group_of(cluster, 2, 8);
  const double time = model.predict(Collective::all_gather, Bytes(INT64_MAX), group).time_us;
  CHECK(time > 0);
  CHECK(std::isfinite(time));
  CHECK_THROWS_AS(model.cost(Collective::all_gather, Bytes(INT64_MAX), group), RangeError);
}

TEST_CASE("a version that is none is refused", "[collective]") {
  CHECK_THROWS_AS(CollectiveModel(shipped(), cluster_of("dgx-h100", 1), "newest"), InputError);
}

TEST_CASE("three GPUs of bridged pairs fall back to PCIe", "[collective]") {
  // NVIDIA/nccl-tests issue 178: A100 PCIe bridged in pairs, two GPUs 208 GB/s of bus bandwidth,
  // three 20 GB/s.
  Cluster cluster = cluster_of("h100-pcie-box", 1);
  cluster.node.device = load_device(shipped(), "a100-pcie-80gb");
  cluster.node.interconnect = Interconnect::nvlink_mesh;
  cluster.node.nvlink_count.value = 12;
  cluster.node.nvlink_bandwidth.value = Bandwidth::gigabytes_per_second(300);
  cluster.node.nvlink_domain = 2;
  cluster.node.pcie_generation = 4;
  cluster.node.socket_bandwidth.value = Bandwidth::gigabytes_per_second(22);
  const auto bus = [&](int gpus) {
    std::vector<sim::Rank> members;
    for (int i = 0; i < gpus; ++i) members.push_back(sim::Rank{static_cast<std::uint32_t>(i)});
    return nccl_alone(cluster)
        .predict(Collective::all_reduce, Bytes(std::int64_t{8192} * mebibyte),
                 group_shape(cluster, members))
        .bus_bandwidth_gb_per_s;
  };
  CHECK(bus(2) == Approx(208).epsilon(0.2));
  CHECK(bus(3) == Approx(20).epsilon(0.1));
}

TEST_CASE("settings restrict what NCCL chooses from, where it has a choice", "[collective]") {
  const Cluster cluster = cluster_of("dgx-h100", 1);
  const GroupShape node = group_of(cluster, 1, 8);
  const Bytes bytes(1024 * mebibyte);
  const auto algorithm_with = [&](NcclSettings settings, Collective collective) {
    const CollectiveModel model(shipped(), cluster, settings, CalibrationUse::nccl_alone);
    const CollectivePrediction prediction = model.predict(collective, bytes, node);
    return prediction.algorithm + "/" + prediction.protocol;
  };
  NcclSettings settings;
  CHECK(algorithm_with(settings, Collective::all_reduce) == "nvls/Simple");
  settings.nvls = NcclSettings::Nvls::off;
  CHECK(algorithm_with(settings, Collective::all_reduce) == "ring/Simple");
  settings.algorithm = "tree";
  CHECK(algorithm_with(settings, Collective::all_reduce) == "tree/Simple");
  CHECK(algorithm_with(settings, Collective::all_gather) == "ring/Simple");
  settings.protocol = "LL128";
  CHECK(algorithm_with(settings, Collective::all_reduce) == "tree/LL128");
}

TEST_CASE("with SHARP eight nodes of H100 reduce as fast as measured", "[collective]") {
  // coreweave/nccl-tests, 64 H100 over InfiniBand with SHARP: 356 GB/s at 512 MiB, 383 at 4 GiB,
  // 387 at 8 GiB.
  const Cluster cluster = cluster_of("dgx-h100", 8);
  const GroupShape group = group_of(cluster, 8, 8);
  NcclSettings settings;
  settings.version = "2.28.3";
  settings.sharp = NcclSettings::Sharp::on;
  const CollectiveModel model(shipped(), cluster, settings);
  const auto bus = [&](std::int64_t mebibytes) {
    const auto prediction =
        model.predict(Collective::all_reduce, Bytes(mebibytes * mebibyte), group);
    CHECK(prediction.algorithm == "nvls");
    return prediction.bus_bandwidth_gb_per_s;
  };
  CHECK(bus(512) == Approx(356).epsilon(0.07));
  CHECK(bus(4096) == Approx(383).epsilon(0.02));
  CHECK(bus(8192) == Approx(387).epsilon(0.02));
  CHECK(model.predict(Collective::all_gather, Bytes(8192 * mebibyte), group).algorithm == "ring");
}

TEST_CASE("fewer thread blocks move less at a time", "[collective]") {
  const Cluster cluster = cluster_of("dgx-h100", 1);
  const GroupShape node = group_of(cluster, 1, 8);
  const Bytes bytes(1024 * mebibyte);
  NcclSettings settings;
  settings.most_channels = 6;
  const auto few = CollectiveModel(shipped(), cluster, settings, CalibrationUse::nccl_alone)
                       .predict(Collective::all_gather, bytes, node);
  const auto all = nccl_alone(cluster).predict(Collective::all_gather, bytes, node);
  CHECK(all.channels == 24);
  CHECK(few.channels == 6);
  CHECK(few.assumed);
  // Six blocks send 144 GB/s at most, where twenty-four sent 360.
  CHECK((few.time_us - few.latency_us) / (all.time_us - all.latency_us) == Approx(2.5));
  settings.most_channels = 16;  // enough for all
  CHECK(CollectiveModel(shipped(), cluster, settings, CalibrationUse::nccl_alone)
            .predict(Collective::all_gather, bytes, node)
            .time_us == all.time_us);
}

TEST_CASE("a setting that NCCL does not know is refused with the nearest", "[collective]") {
  const Cluster cluster = cluster_of("dgx-h100", 1);
  NcclSettings settings;
  settings.algorithm = "rnig";
  try {
    const CollectiveModel model(shipped(), cluster, settings);
    FAIL("accepted an algorithm that does not exist");
  } catch (const InputError& error) {
    CHECK(error.diagnostics().at(0).suggestion == "ring");
  }
  settings = {};
  settings.protocol = "Simple128";
  CHECK_THROWS_AS(CollectiveModel(shipped(), cluster, settings), InputError);
}

TEST_CASE("the engine learns which SMs and how much memory bandwidth a collective takes",
          "[collective]") {
  const Cluster cluster = cluster_of("dgx-h100", 1);
  const GroupShape node = group_of(cluster, 1, 8);
  const Bytes bytes(std::int64_t{8192} * mebibyte);
  const CollectiveModel model = nccl_alone(cluster);
  const sim::CollectiveCost gather = model.cost(Collective::all_gather, bytes, node);
  CHECK(gather.sms == 24);
  // 360 GB/s sent, each byte read and written: 720 of 3,350 GB/s.
  CHECK(gather.memory_thousandths == 215);
  const sim::CollectiveCost scatter = model.cost(Collective::reduce_scatter, bytes, node);
  CHECK(scatter.memory_thousandths == 322);
  const sim::CollectiveCost reduce = model.cost(Collective::all_reduce, bytes, node);
  CHECK(reduce.sms == 16);
  CHECK(reduce.memory_thousandths == 137);  // NVLS: 272 GB/s, 9/8 sent, 1.5 in memory
}

TEST_CASE("a collective through slow ports takes as long as the slowest carries it",
          "[collective]") {
  Cluster cluster = cluster_of("dgx-h100", 4);
  const CollectiveModel usual = nccl_alone(cluster);
  const GroupShape all = group_of(cluster, 4, 8);
  for (const int millionths : {900'000, 500'000, 10'000}) {
    cluster.slow_ports = {{2, millionths}};
    const CollectiveModel slow = nccl_alone(cluster);
    for (const Collective collective : all_collectives) {
      const Bytes bytes(256 * mebibyte);
      const sim::CollectiveCost before = usual.cost(collective, bytes, all);
      const sim::CollectiveCost after =
          slow.cost(collective, bytes, group_of(cluster, 4, cluster.node.gpus));
      INFO(to_string(collective) << ' ' << millionths);
      const double ports = static_cast<double>(before.rate) / full_ports;  // what it fills of them
      const double stretch = std::max(1.0, ports / (millionths / 1e6));
      CHECK(after.transfer.seconds() == Approx(before.transfer.seconds() * stretch).epsilon(1e-4));
      CHECK(after.transfer - after.slow_part == before.transfer);
      CHECK(after.latency == before.latency);
      CHECK(after.sms == before.sms);
      CHECK(after.algorithm == before.algorithm);
      CHECK(after.rate <= rate_of_ports(millionths));
      CHECK(after.memory_thousandths <= before.memory_thousandths);
      // A group that passes none of them is as fast as ever.
      CHECK(slow.cost(collective, bytes, group_of(cluster, 2, 8)).transfer ==
            usual.cost(collective, bytes, group_of(cluster, 2, 8)).transfer);
    }
  }
}
