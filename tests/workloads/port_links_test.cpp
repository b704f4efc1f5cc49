#include "workloads/port_links.hpp"

#include "topology/link_load.hpp"

#include "sim/executor.hpp"

#include "tests/support/catch.hpp"

using namespace stepsim;
using namespace stepsim::workloads;

namespace {

topology::Cluster cluster(int nodes, int ports = 8) {
  topology::Cluster cluster;
  cluster.node = topology::load_node(DataDirectory::find(), "dgx-h100");
  cluster.node.nics.value = ports;
  cluster.nodes = nodes;
  cluster.gpus = 8 * nodes;
  return cluster;
}

/// Sharding groups of `shard` neighbours, and the replicas of each place.
sim::Job job_of(std::uint32_t ranks, std::uint32_t shard) {
  sim::Job job;
  for (std::uint32_t first = 0; first < ranks; first += shard) {
    job.communicators.push_back({"shard", {}, 0, {}});
    for (std::uint32_t i = 0; i < shard; ++i)
      job.communicators.back().members.push_back({first + i});
  }
  for (std::uint32_t place = 0; place < shard && shard < ranks; ++place) {
    job.communicators.push_back({"replicate", {}, 1, {}});
    for (std::uint32_t rank = place; rank < ranks; rank += shard)
      job.communicators.back().members.push_back({rank});
  }
  return job;
}

}  // namespace

TEST_CASE("groups of one kind have their fair part in their cost and share no links",
          "[port_links]") {
  for (const std::uint32_t shard : {8U, 32U}) {  // only replicas leave a node; only shards do
    sim::Job job = job_of(32, shard);
    share_ports(cluster(4), job);
    CHECK(job.links.empty());
  }
}

TEST_CASE("sharding groups over nodes and their replicas share each port", "[port_links]") {
  sim::Job job = job_of(32, 16);
  share_ports(cluster(4), job);
  CHECK(job.links.size() == 4 * 8);
  CHECK(job.links[0].capacity == topology::full_ports);
  CHECK(job.communicators[0].links.size() == 16);  // every port of two nodes
  CHECK(job.communicators[2].links.size() == 2);   // one port of two nodes
  std::vector<int> crossed(job.links.size());
  for (const sim::Communicator& communicator : job.communicators)
    for (const sim::LinkUse& use : communicator.links) ++crossed[use.link.index()];
  CHECK(crossed == std::vector<int>(job.links.size(), 2));
}

TEST_CASE("ports of a slow node carry less", "[port_links]") {
  sim::Job job = job_of(32, 16);
  topology::Cluster slow = cluster(4);
  slow.slow_ports = {{1, 500'000}};
  share_ports(slow, job);
  for (const sim::Link& link : job.links)
    CHECK(link.capacity ==
          (link.name.ends_with("of node 1") ? topology::full_ports / 2 : topology::full_ports));
}

TEST_CASE("where GPUs share a port, a group that has it whole counts for several", "[port_links]") {
  sim::Job job = job_of(32, 16);
  share_ports(cluster(4, 4), job);
  CHECK(job.links.size() == 4 * 4);
  CHECK(job.links[0].capacity == 2 * topology::full_ports);
  CHECK(job.communicators[0].links[0].times == 2);  // a sharding group fills all ports
  CHECK(job.communicators[2].links[0].times == 1);  // two replicas' groups share one
}

TEST_CASE("messages between stages share ports with collectives, each way by itself",
          "[port_links]") {
  sim::Job job = job_of(32, 16);
  job.communicators.resize(2);  // the sharding groups
  job.channels.push_back({"pipeline", {0}, {16}, 0, {}});
  job.channels.push_back({"pipeline", {16}, {0}, 0, {}});
  job.channels.push_back({"pipeline", {1}, {2}, 0, {}});  // inside a node
  share_ports(cluster(4), job);
  CHECK(job.links.size() == 2 * 4 * 8);
  CHECK(job.communicators[0].links.size() == 32);
  REQUIRE(job.channels[0].links.size() == 2);
  REQUIRE(job.channels[1].links.size() == 2);
  CHECK(job.channels[2].links.empty());
  for (const sim::LinkUse& there : job.channels[0].links) {
    for (const sim::LinkUse& back : job.channels[1].links) CHECK(there.link != back.link);
  }
  std::vector<int> crossed(job.links.size());
  for (const sim::LinkUse& use : job.communicators[0].links) ++crossed[use.link.index()];
  for (const sim::LinkUse& use : job.communicators[1].links) ++crossed[use.link.index()];
  CHECK(crossed == std::vector<int>(job.links.size(), 1));
}
