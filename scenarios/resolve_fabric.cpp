// What joins the nodes: cluster.fabric.

#include "scenarios/resolve_scenario.hpp"

#include <string>

namespace stepsim::scenarios {

namespace {

using topology::Cluster;
using topology::FabricKind;

// Keys of tiers that the fabric does not have.
bool check_tiers(const FabricSpec& spec, const Cluster& cluster, KeyProblems& problems) {
  bool good = true;
  const auto refuse = [&](const char* key, const std::string& problem, const char* expected) {
    problems.refuse(std::string("cluster.fabric.") + key, problem, expected);
    good = false;
  };
  if (cluster.fabric == FabricKind::single_switch) {
    const char* expected = "rail-optimized or fat-tree as cluster.fabric.kind, or no such key";
    const char* problem = "has no meaning with a single switch";
    if (spec.nodes_per_leaf) refuse("nodes_per_leaf", problem, expected);
    if (spec.nodes_per_pod) refuse("nodes_per_pod", problem, expected);
    if (spec.pod_oversubscription) refuse("pod_oversubscription", problem, expected);
    if (spec.ecmp) refuse("ecmp", problem, expected);
    if (spec.oversubscription.value_or(1) > 1) refuse("oversubscription", problem, expected);
  } else if (spec.pod_oversubscription && !spec.nodes_per_pod) {
    refuse("pod_oversubscription", "has no meaning without pods", "nodes_per_pod beside it");
  }
  return good;
}

bool check_pods(const Cluster& cluster, KeyProblems& problems) {
  const int under_leaf = topology::nodes_under_leaf(cluster);
  if (cluster.nodes_per_pod == 0 || cluster.nodes_per_pod % under_leaf == 0) return true;
  const int below = cluster.nodes_per_pod / under_leaf * under_leaf;
  const int nearest = below == 0 ? under_leaf : below;
  problems.refuse("cluster.fabric.nodes_per_pod",
                  std::to_string(cluster.nodes_per_pod) + " nodes are not whole leaves of " +
                      std::to_string(under_leaf),
                  "a multiple of " + std::to_string(under_leaf) + ", or another nodes_per_leaf",
                  std::to_string(nearest));
  return false;
}

}  // namespace

bool resolve_fabric(const FabricSpec& spec, KeyProblems& problems, Scenario& scenario) {
  Cluster& cluster = scenario.cluster;
  const Cluster defaults;
  cluster.fabric = spec.kind.value_or(defaults.fabric);
  cluster.oversubscription = spec.oversubscription.value_or(defaults.oversubscription);
  cluster.nodes_per_leaf = spec.nodes_per_leaf.value_or(defaults.nodes_per_leaf);
  cluster.nodes_per_pod = spec.nodes_per_pod.value_or(defaults.nodes_per_pod);
  cluster.pod_oversubscription = spec.pod_oversubscription.value_or(defaults.pod_oversubscription);
  cluster.network_latency = spec.latency.value_or(defaults.network_latency);
  if (spec.ecmp) cluster.ecmp_seed = static_cast<std::uint32_t>(*spec.ecmp);
  constexpr double longest_latency_s = 1;
  if (cluster.network_latency < Time::zero() ||
      cluster.network_latency.seconds() > longest_latency_s) {
    problems.refuse("cluster.fabric.latency", "longer than any network's", "0 to 1 s");
    return false;
  }
  return check_tiers(spec, cluster, problems) && check_pods(cluster, problems);
}

}  // namespace stepsim::scenarios
