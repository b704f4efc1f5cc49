#include "scenarios/slow_parts.hpp"

#include "scenarios/resolve_scenario.hpp"

#include <set>
#include <string>

namespace stepsim::scenarios {

bool resolve_slow(const ClusterSpec& spec, KeyProblems& problems, Scenario& scenario) {
  if (!spec.slow) return true;
  const DocumentNode& list = problems.site("cluster.slow").node;
  std::set<int> ranks;
  bool usable = true;
  for (std::size_t i = 0; i < spec.slow->size(); ++i) {
    const int rank = *(*spec.slow)[i].rank;
    const DocumentNode* value = list.items[i].find("rank");
    const ValueSite site{value != nullptr ? *value : list.items[i],
                         "cluster.slow[" + std::to_string(i) + "].rank", problems.diagnostics()};
    if (rank >= scenario.cluster.gpus) {
      usable = site.refuse("is " + std::to_string(rank) + ", but the cluster has " +
                               std::to_string(scenario.cluster.gpus) + " GPUs",
                           "from 0 to " + std::to_string(scenario.cluster.gpus - 1));
    } else if (!ranks.insert(rank).second) {
      usable = site.refuse("is " + std::to_string(rank) + ", which is there twice", "each once");
    }
  }
  scenario.slow = *spec.slow;
  return usable;
}

void apply_slow_parts(const Scenario& scenario, sim::Job& job) {
  constexpr double usual = sim::RankSetup::usual_compute_time;
  for (const SlowPartSpec& part : scenario.slow) {
    sim::RankSetup& setup = job.ranks[static_cast<std::size_t>(*part.rank)];
    setup.compute_time_millionths = static_cast<std::uint32_t>(*part.compute_time * usual + 0.5);
  }
}

}  // namespace stepsim::scenarios
