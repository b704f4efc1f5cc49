#include "workloads/step_job.hpp"

#include "sim/base/error.hpp"

#include <map>
#include <string>
#include <utility>

namespace stepsim::workloads {
namespace {

/// Adds communicators and their cost rows; communicators of one shape share a row.
class CommunicatorMaker {
 public:
  CommunicatorMaker(sim::Job& job, const topology::Cluster& cluster, const StepCosts& costs)
      : job_(job), cluster_(cluster), costs_(costs) {}

  std::uint32_t add(const std::string& group, std::vector<sim::Rank> members) {
    const topology::GroupShape shape = topology::group_shape(cluster_, members);
    const auto [it, is_new] =
        rows_.try_emplace({group, shape}, static_cast<std::uint32_t>(job_.collective_costs.size()));
    if (is_new) job_.collective_costs.push_back(costs_.collective_row(group, shape));
    job_.communicators.push_back({group, std::move(members), it->second});
    return static_cast<std::uint32_t>(job_.communicators.size() - 1);
  }

 private:
  sim::Job& job_;
  const topology::Cluster& cluster_;
  const StepCosts& costs_;
  std::map<std::pair<std::string, topology::GroupShape>, std::uint32_t> rows_;
};

sim::Rank rank_at(int replica, int place, int shard) {
  return {static_cast<std::uint32_t>(replica * shard + place)};
}

/// For every rank, its communicator of `group`.
std::vector<std::uint32_t> add_group(CommunicatorMaker& maker, const std::string& group,
                                     const Plan& plan) {
  const bool is_shard = group == "shard";
  if (!is_shard && group != "replicate")
    throw InternalError("no ranks are known for the communicator slot «" + group + "»");
  const int outer = is_shard ? plan.replicate : plan.shard;
  const int inner = is_shard ? plan.shard : plan.replicate;
  std::vector<std::uint32_t> of_rank(static_cast<std::size_t>(outer) *
                                     static_cast<std::size_t>(inner));
  for (int o = 0; o < outer; ++o) {
    std::vector<sim::Rank> members;
    for (int i = 0; i < inner; ++i)
      members.push_back(is_shard ? rank_at(o, i, plan.shard) : rank_at(i, o, plan.shard));
    const std::vector<sim::Rank> ranks = members;
    const std::uint32_t id = maker.add(group, std::move(members));
    for (const sim::Rank rank : ranks) of_rank[rank.index()] = id;
  }
  return of_rank;
}

}  // namespace

sim::Job assemble_job(sim::Program program, const Plan& plan, const topology::Cluster& cluster,
                      StepCosts& costs) {
  sim::Job job;
  job.ranks.resize(static_cast<std::size_t>(plan.shard) * static_cast<std::size_t>(plan.replicate));
  CommunicatorMaker maker(job, cluster, costs);
  for (const sim::Slot& slot : program.slots) {
    const std::vector<std::uint32_t> of_rank = add_group(maker, slot.group, plan);
    for (std::size_t rank = 0; rank < job.ranks.size(); ++rank)
      job.ranks[rank].bindings.push_back(of_rank[rank]);
  }
  job.programs.push_back(std::move(program));
  job.collectives = costs.collective_specs();
  costs.share(taken_levels(job));
  job.kernels = costs.take_kernels();
  return job;
}

}  // namespace stepsim::workloads
