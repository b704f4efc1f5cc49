#include "scenarios/slow_parts.hpp"

#include "scenarios/resolve_scenario.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace stepsim::scenarios {

namespace {

constexpr double millionths = 1e6;

int to_millionths(double value) { return static_cast<int>(value * millionths + 0.5); }

/// Checks the entries of cluster.slow one by one, and remembers what has been declared.
class SlowParts {
 public:
  SlowParts(const topology::Cluster& cluster, const DocumentNode& list, Diagnostics& diagnostics)
      : cluster_(cluster), list_(list), diagnostics_(diagnostics) {}

  bool check(std::size_t place, const SlowPartSpec& part) {
    place_ = place;
    if (part.rank && part.node)
      return at("node").refuse("stands beside rank", "one of rank and node");
    if (part.rank) return check_rank(part);
    if (part.node) return check_node(part);
    return at("").refuse("does not say what is slow", "a key rank or node");
  }

 private:
  bool check_rank(const SlowPartSpec& part) {
    if (part.nic_bandwidth)
      return at("nic_bandwidth").refuse("is of a rank", "a node, whose ports all its GPUs use");
    if (!part.compute_time)
      return at("").refuse("does not say how slow the rank is", "a key compute_time");
    const int rank = *part.rank;
    const int node = rank / cluster_.node.gpus;
    if (!check_range("rank", rank, cluster_.gpus, "GPU")) return false;
    if (slow_nodes_.contains(node))
      return at("rank").refuse("is " + std::to_string(rank) + ", a GPU of node " +
                                   std::to_string(node) + ", whose compute_time is there too",
                               "one compute_time for a GPU");
    return check_once("rank", rank, ranks_);
  }

  bool check_node(const SlowPartSpec& part) {
    if (!part.compute_time && !part.nic_bandwidth)
      return at("").refuse("does not say how slow the node is",
                           "a key compute_time or nic_bandwidth");
    const int node = *part.node;
    if (!check_range("node", node, cluster_.nodes, "node")) return false;
    if (part.nic_bandwidth && cluster_.nodes == 1)
      return at("nic_bandwidth")
          .refuse("is of a cluster of one node, which uses no port", "two nodes or more");
    if (part.compute_time && !check_gpus_of(node)) return false;
    return check_once("node", node, nodes_);
  }

  bool check_gpus_of(int node) {
    for (const int rank : ranks_) {
      if (rank / cluster_.node.gpus != node) continue;
      return at("compute_time")
          .refuse("is of node " + std::to_string(node) + ", and rank " + std::to_string(rank) +
                      " of that node is there too",
                  "one compute_time for a GPU");
    }
    slow_nodes_.insert(node);
    return true;
  }

  bool check_range(const char* key, int number, int count, const char* what) const {
    if (number < count) return true;
    const std::string of = std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
    return at(key).refuse("is " + std::to_string(number) + ", but the cluster has " + of,
                          count == 1 ? "0" : "from 0 to " + std::to_string(count - 1));
  }

  bool check_once(const char* key, int number, std::set<int>& known) const {
    if (known.insert(number).second) return true;
    return at(key).refuse("is " + std::to_string(number) + ", which is there twice", "each once");
  }

  /// The value of the key, or the whole entry.
  ValueSite at(const std::string& key) const {
    const DocumentNode& entry = list_.items[place_];
    const DocumentNode* value = key.empty() ? nullptr : entry.find(key);
    const std::string path = "cluster.slow[" + std::to_string(place_) + "]";
    return {value != nullptr ? *value : entry, key.empty() ? path : path + '.' + key, diagnostics_};
  }

  const topology::Cluster& cluster_;
  const DocumentNode& list_;
  Diagnostics& diagnostics_;
  std::size_t place_ = 0;
  std::set<int> ranks_;
  std::set<int> nodes_;
  std::set<int> slow_nodes_;  // that compute slowly
};

}  // namespace

bool resolve_slow(const ClusterSpec& spec, KeyProblems& problems, Scenario& scenario) {
  if (!spec.slow) return true;
  SlowParts parts(scenario.cluster, problems.site("cluster.slow").node, problems.diagnostics());
  bool usable = true;
  for (std::size_t i = 0; i < spec.slow->size(); ++i) {
    const SlowPartSpec& part = (*spec.slow)[i];
    if (!parts.check(i, part)) {
      usable = false;
    } else if (part.nic_bandwidth) {
      scenario.cluster.slow_ports[*part.node] = to_millionths(*part.nic_bandwidth);
    }
  }
  scenario.slow = *spec.slow;
  return usable;
}

void apply_slow_parts(const Scenario& scenario, sim::Job& job) {
  const int gpus = scenario.cluster.node.gpus;
  const auto ranks = static_cast<int>(job.ranks.size());
  for (const SlowPartSpec& part : scenario.slow) {
    if (!part.compute_time) continue;
    const int first = part.rank ? *part.rank : *part.node * gpus;
    const int end = part.rank ? first + 1 : std::min(first + gpus, ranks);
    for (int rank = first; rank < end; ++rank)
      job.ranks[static_cast<std::size_t>(rank)].compute_time_millionths =
          static_cast<std::uint32_t>(to_millionths(*part.compute_time));
  }
}

std::string slow_part_of_rank(const Scenario& scenario, sim::Rank rank) {
  const int node = static_cast<int>(rank.value) / scenario.cluster.node.gpus;
  for (const SlowPartSpec& part : scenario.slow) {
    if (part.node == node && part.compute_time) return "slow node " + std::to_string(node);
    if (part.rank == static_cast<int>(rank.value)) return "slow rank " + std::to_string(rank.value);
  }
  return "noise";
}

std::string slow_part_of_group(const Scenario& scenario, const std::vector<sim::Rank>& members) {
  const topology::Cluster& cluster = scenario.cluster;
  std::pair<int, int> slowest{topology::usual_port_millionths, 0};  // millionths, node
  for (const sim::Rank member : members) {
    const int node = static_cast<int>(member.value) / cluster.node.gpus;
    slowest = std::min(slowest, {topology::port_millionths(cluster, node), node});
  }
  return "slow node " + std::to_string(slowest.second);
}

}  // namespace stepsim::scenarios
