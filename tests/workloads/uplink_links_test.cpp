#include "workloads/uplink_links.hpp"

#include "topology/collective.hpp"
#include "topology/link_load.hpp"

#include "sim/executor.hpp"

#include "tests/support/catch.hpp"

#include <algorithm>
#include <map>

using namespace stepsim;
using namespace stepsim::workloads;
using topology::Collective;

namespace {

using Members = std::vector<std::vector<std::uint32_t>>;

const DataDirectory& data() {
  static const DataDirectory directory = DataDirectory::find();
  return directory;
}

/// DGX H100s, two to a leaf.
topology::Cluster cluster(int nodes, double oversubscription,
                          topology::FabricKind kind = topology::FabricKind::rail_optimized) {
  topology::Cluster cluster;
  cluster.node = topology::load_node(data(), "dgx-h100");
  cluster.nodes = nodes;
  cluster.gpus = 8 * nodes;
  cluster.fabric = kind;
  cluster.nodes_per_leaf = 2;
  cluster.oversubscription = oversubscription;
  return cluster;
}

/// Every rank runs one collective of a gigabyte in its group; ranks in no group are left out.
sim::Job job_of(const topology::Cluster& cluster, const Members& groups, Collective collective) {
  const topology::CollectiveModel model =
      topology::CollectiveModel(data(), cluster, "2.27.7").with_whole_uplinks();
  const Bytes bytes(1'000'000'000);
  sim::Job job;
  job.collectives.push_back({topology::to_string(collective), "all", bytes});
  sim::Program program;
  program.name = "one collective";
  program.streams = {{"communication", sim::StreamKind::communication}};
  program.scopes = {"step"};
  program.slots = {{"all", false}};
  sim::Op op;
  op.kind = sim::OpKind::collective;
  op.target = 0;
  program.ops = {op};
  job.programs.push_back(program);
  sim::Program idle = program;
  idle.name = "nothing";
  idle.slots.clear();
  idle.ops.clear();
  job.programs.push_back(idle);
  job.ranks.resize(static_cast<std::size_t>(cluster.gpus));
  for (sim::RankSetup& rank : job.ranks) rank.program = sim::ProgramId{1};
  std::map<topology::GroupShape, std::uint32_t> rows;
  for (const auto& group : groups) {
    std::vector<sim::Rank> members;
    for (const std::uint32_t rank : group) members.push_back({rank});
    const topology::GroupShape shape = topology::group_shape(cluster, members);
    const auto [row, is_new] =
        rows.try_emplace(shape, static_cast<std::uint32_t>(job.collective_costs.size()));
    if (is_new) job.collective_costs.push_back({model.cost(collective, bytes, shape)});
    for (const std::uint32_t rank : group) {
      job.ranks[rank].program = sim::ProgramId{0};
      job.ranks[rank].bindings = {static_cast<std::uint32_t>(job.communicators.size())};
    }
    job.communicators.push_back({"all", std::move(members), row->second, {}});
  }
  share_uplinks(cluster, job);
  sim::check_job(job);
  return job;
}

/// Seconds of each group.
std::vector<double> times(const sim::Job& job, sim::Folding folding = sim::Folding::where_it_pays) {
  const sim::Execution execution = sim::execute(job, {folding});
  std::vector<double> seconds;
  for (std::uint32_t i = 0; i < job.communicators.size(); ++i)
    seconds.push_back(execution.of_communicator(i).front().end.seconds());
  return seconds;
}

/// The ranks of some nodes.
std::vector<std::uint32_t> nodes(const std::vector<std::uint32_t>& which) {
  std::vector<std::uint32_t> ranks;
  for (const std::uint32_t node : which)
    for (std::uint32_t gpu = 0; gpu < 8; ++gpu) ranks.push_back(8 * node + gpu);
  return ranks;
}

constexpr topology::FabricKind kinds[] = {topology::FabricKind::rail_optimized,
                                          topology::FabricKind::fat_tree};

}  // namespace

TEST_CASE("a fabric whose uplinks carry all that is below them has none in the job",
          "[uplink_links]") {
  for (const auto kind : kinds) {
    const sim::Job job =
        job_of(cluster(4, 1, kind), {nodes({0, 2}), nodes({1, 3})}, Collective::all_gather);
    CHECK(job.links.empty());
  }
}

TEST_CASE("an oversubscribed spine slows exactly the groups that cross it", "[uplink_links]") {
  for (const auto kind : kinds) {
    const Members inside = {nodes({0, 1}), nodes({2, 3})};
    const Members across = {nodes({0, 2}), nodes({1, 3})};
    const auto free = times(job_of(cluster(4, 1, kind), across, Collective::all_gather));
    const auto full = times(job_of(cluster(4, 4, kind), across, Collective::all_gather));
    // Two groups want two ports' rate of a rail, and half a port's is there.
    CHECK(full[0] > 3.5 * free[0]);
    CHECK(full[0] == full[1]);
    const auto below = times(job_of(cluster(4, 1, kind), inside, Collective::all_gather));
    CHECK(times(job_of(cluster(4, 4, kind), inside, Collective::all_gather)) == below);
    // One of each kind: the one that crosses has the uplinks for itself.
    const auto mixed =
        times(job_of(cluster(6, 2, kind), {nodes({0, 2}), nodes({4, 5})}, Collective::all_gather));
    const auto alone = times(job_of(cluster(6, 2, kind), {nodes({0, 2})}, Collective::all_gather));
    CHECK(mixed[0] == alone[0]);
    CHECK(mixed[1] == below[0]);
    CHECK(alone[0] == Approx(free[0]).epsilon(1e-6));
  }
}

TEST_CASE("groups of one kind on full uplinks take what their fair part says", "[uplink_links]") {
  for (const auto kind : kinds) {
    for (const Collective collective :
         {Collective::all_gather, Collective::all_reduce, Collective::all_to_all}) {
      INFO(topology::to_string(collective));
      const topology::Cluster fabric = cluster(4, 4, kind);
      const Members groups = {nodes({0, 2}), nodes({1, 3})};
      const auto shared = times(job_of(fabric, groups, collective));
      std::vector<sim::Rank> members;
      for (const std::uint32_t rank : groups[0]) members.push_back({rank});
      const sim::CollectiveCost fair =
          topology::CollectiveModel(data(), fabric, "2.27.7")
              .cost(collective, Bytes(1'000'000'000), topology::group_shape(fabric, members));
      CHECK(shared[0] == Approx((fair.latency + fair.transfer).seconds()).epsilon(0.01));
    }
  }
}

TEST_CASE("the uplinks of a job carry the volume of its collectives", "[uplink_links]") {
  for (const auto kind : kinds) {
    const topology::Cluster fabric = cluster(8, 3, kind);
    const Members everyone = {nodes({0, 1, 2, 3, 4, 5, 6, 7})};
    for (const Collective collective : {Collective::all_gather, Collective::all_to_all}) {
      const sim::Job job = job_of(fabric, everyone, collective);
      // In units of what one port of the group carries; three leaves see the traffic of the fourth.
      const double one_leaf = collective == Collective::all_gather
                                  ? 8 * 63.0 / 64 / (8 * 63.0 / 64)
                                  : (16.0 * 48 / 64) / (8.0 * 56 / 64);
      double sum = 0;
      for (const sim::LinkUse& use : job.communicators[0].links) sum += use.times;
      CHECK(sum / 64 == Approx(4 * 8 * one_leaf).epsilon(0.01));
    }
  }
}

TEST_CASE("a message between leaves shares uplinks with the groups that cross them",
          "[uplink_links]") {
  const topology::Cluster fabric = cluster(4, 4);
  sim::Job job = job_of(fabric, {nodes({1, 3})}, Collective::all_gather);
  job.communicators[0].links.clear();
  job.links.clear();
  job.channels.push_back({"pipeline", {0}, {16}, 0, {}});
  share_uplinks(fabric, job);
  REQUIRE(job.channels[0].links.size() == 2);  // up from the sender's leaf, down to the receiver's
  const auto& group = job.communicators[0].links;
  const auto crosses = [&](sim::LinkId link) {
    return std::any_of(group.begin(), group.end(),
                       [&](const sim::LinkUse& use) { return use.link == link; });
  };
  CHECK(crosses(job.channels[0].links[0].link));
  CHECK(crosses(job.channels[0].links[1].link));
}

TEST_CASE("hashed flows collide on uplinks that could carry them all", "[uplink_links]") {
  topology::Cluster fabric = cluster(16, 1);
  fabric.nodes_per_leaf = 8;
  const Members groups = {nodes({0, 8}), nodes({1, 9}), nodes({2, 10}), nodes({3, 11})};
  const auto even = times(job_of(fabric, groups, Collective::all_gather));
  std::map<std::vector<double>, int> outcomes;
  for (std::uint32_t seed = 0; seed < 4; ++seed) {
    fabric.ecmp_seed = seed;
    const sim::Job job = job_of(fabric, groups, Collective::all_gather);
    const auto hashed = times(job);
    CHECK(hashed == times(job, sim::Folding::off));
    for (std::size_t i = 0; i < groups.size(); ++i) CHECK(hashed[i] >= even[i] * (1 - 1e-9));
    CHECK(*std::max_element(hashed.begin(), hashed.end()) > 1.2 * even[0]);
    ++outcomes[hashed];
  }
  CHECK(outcomes.size() > 1);
}

TEST_CASE("sixteen thousand ranks of an oversubscribed fabric fold into few", "[uplink_links]") {
  topology::Cluster fabric = cluster(2048, 2);
  fabric.nodes_per_leaf = 32;
  fabric.nodes_per_pod = 256;
  fabric.pod_oversubscription = 7;
  Members groups;
  for (std::uint32_t place = 0; place < 8; ++place) {
    groups.emplace_back();
    for (std::uint32_t node = 0; node < 2048; ++node) groups.back().push_back(8 * node + place);
  }
  const sim::Job job = job_of(fabric, groups, Collective::all_gather);
  const sim::Execution execution = sim::execute(job);
  CHECK(execution.simulated_ranks <= 8);
  CHECK(times(job).front() == times(job).back());
}
