#include "topology/cluster.hpp"

#include "sim/base/error.hpp"

#include "tests/support/catch.hpp"

#include <algorithm>

using namespace stepsim;
using namespace stepsim::topology;

namespace {

Cluster cluster_of(int nodes, int ports = 8) {
  Cluster cluster;
  cluster.node.gpus = 8;
  cluster.node.nics.value = ports;
  cluster.nodes = nodes;
  cluster.gpus = 8 * nodes;
  return cluster;
}

std::vector<sim::Rank> ranks(int first, int count, int stride = 1) {
  std::vector<sim::Rank> members;
  for (int i = 0; i < count; ++i) {
    members.push_back(sim::Rank{static_cast<std::uint32_t>(first + i * stride)});
  }
  return members;
}

}  // namespace

TEST_CASE("a group inside a node uses no ports", "[cluster]") {
  const GroupShape shape = group_shape(cluster_of(4), ranks(8, 8));
  CHECK(shape == GroupShape{8, 1, 8, 0, 1, 1, 1});
}

TEST_CASE("whole nodes use all their ports", "[cluster]") {
  CHECK(group_shape(cluster_of(4), ranks(0, 32)) == GroupShape{32, 4, 8, 8, 1, 1, 1});
  Cluster slow = cluster_of(4);
  slow.slow_ports = {{1, 250'000}, {2, 500'000}};
  CHECK(group_shape(slow, ranks(0, 32)).port_millionths == 250'000);
  CHECK(group_shape(slow, ranks(16, 16)).port_millionths == 500'000);
  CHECK(group_shape(slow, ranks(8, 8)).port_millionths == 1'000'000);  // crosses no port
}

TEST_CASE("one member a node uses one port of eight", "[cluster]") {
  CHECK(group_shape(cluster_of(4), ranks(3, 4, 8)) == GroupShape{4, 4, 1, 1, 1, 1, 1});
}

TEST_CASE("groups share a port when there are fewer ports than groups", "[cluster]") {
  CHECK(group_shape(cluster_of(4, 4), ranks(3, 4, 8)) == GroupShape{4, 4, 1, 1, 2, 1, 1});
  CHECK(group_shape(cluster_of(4, 1), ranks(3, 4, 8)) == GroupShape{4, 4, 1, 1, 8, 1, 1});
  CHECK(group_shape(cluster_of(4, 4), ranks(0, 16, 2)) == GroupShape{16, 4, 4, 2, 1, 1, 1});
}

TEST_CASE("a partly used node lends its few ports only, and its fullest node counts inside",
          "[cluster]") {
  CHECK(group_shape(cluster_of(2), ranks(0, 12)) == GroupShape{12, 2, 8, 4, 1, 1, 1});
  CHECK(group_shape(cluster_of(2), ranks(0, 9)) == GroupShape{9, 2, 8, 1, 1, 1, 1});
  CHECK(group_shape(cluster_of(2, 4), ranks(0, 9)) == GroupShape{9, 2, 8, 1, 2, 1, 1});
  // Six ranks of which two are on the first node and four on the second.
  CHECK(group_shape(cluster_of(2), ranks(6, 6)) == GroupShape{6, 2, 4, 2, 1, 1, 1});
}

TEST_CASE("leaves follow the fabric", "[cluster]") {
  Cluster cluster = cluster_of(64);
  CHECK(group_shape(cluster, ranks(0, 512)).leaves == 2);
  CHECK(group_shape(cluster, ranks(0, 256)).leaves == 1);
  cluster.fabric = FabricKind::fat_tree;
  CHECK(group_shape(cluster, ranks(0, 512)).leaves == 16);
  cluster.nodes_per_leaf = 16;
  CHECK(group_shape(cluster, ranks(0, 512)).leaves == 4);
  cluster.fabric = FabricKind::single_switch;
  CHECK(group_shape(cluster, ranks(0, 512)).leaves == 1);
}

TEST_CASE("the order of ranks and their places inside a node change nothing", "[cluster]") {
  const Cluster cluster = cluster_of(4);
  std::vector<sim::Rank> members = ranks(0, 16, 2);
  const GroupShape shape = group_shape(cluster, members);
  std::reverse(members.begin(), members.end());
  CHECK(group_shape(cluster, members) == shape);
  for (sim::Rank& rank : members) rank.value = rank.value / 8 * 8 + 7 - rank.value % 8;
  CHECK(group_shape(cluster, members) == shape);
}

TEST_CASE("a group that is empty or outside the cluster is our mistake", "[cluster]") {
  CHECK_THROWS_AS(group_shape(cluster_of(2), {}), InternalError);
  CHECK_THROWS_AS(group_shape(cluster_of(2), ranks(12, 8)), InternalError);
}

TEST_CASE("GPUs bridged in pairs are in one NVLink domain only as a pair", "[cluster]") {
  Cluster cluster = cluster_of(2);
  cluster.node.nvlink_domain = 2;
  CHECK(group_shape(cluster, ranks(2, 2)).one_nvlink_domain);
  CHECK_FALSE(group_shape(cluster, ranks(1, 2)).one_nvlink_domain);
  CHECK_FALSE(group_shape(cluster, ranks(0, 3)).one_nvlink_domain);
  CHECK(group_shape(cluster, ranks(3, 2, 8)).one_nvlink_domain);
}
