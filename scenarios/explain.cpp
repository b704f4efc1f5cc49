#include "scenarios/explain.hpp"

#include "scenarios/cost_models.hpp"
#include "scenarios/noise.hpp"
#include "scenarios/parallel.hpp"
#include "scenarios/slow_parts.hpp"

#include "workloads/step.hpp"

#include "sim/base/wide_integers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <set>

namespace stepsim::scenarios {

namespace {

constexpr double infinitely_fast = std::numeric_limits<double>::infinity();
constexpr double tenth_faster = 1.1;

/// What changes of a step before it is executed again.
struct Change {
  std::string what;
  workloads::ClockSpeeds speeds{};
  std::function<void(sim::Job&)> of_job{};
};

Time a_tenth_faster(Time time) {
  return Time::picoseconds(static_cast<std::int64_t>((WideSigned{time.count_ps()} * 10 + 10) / 11));
}

void free_transfers(sim::Job& job) {
  for (auto& row : job.collective_costs) {
    for (sim::CollectiveCost& cost : row) {
      cost.transfer = cost.slow_part = Time::zero();
      cost.sms = cost.memory_thousandths = 0;
      cost.rate = 0;
    }
  }
}

void free_overhead(sim::Job& job) {
  for (sim::Program& program : job.programs)
    for (sim::Op& op : program.ops) op.host_time = Time::zero();
  for (sim::KernelCost& kernel : job.kernels) {
    kernel.time = kernel.time - kernel.fixed;
    kernel.fixed = Time::zero();
    if (kernel.clock == sim::Clock::overhead) kernel.time = Time::zero();
  }
  for (auto& row : job.collective_costs)
    for (sim::CollectiveCost& cost : row) cost.latency = Time::zero();
}

void hasten_host(sim::Job& job) {
  for (sim::Program& program : job.programs)
    for (sim::Op& op : program.ops) op.host_time = a_tenth_faster(op.host_time);
}

/// The cost rows of communicators and channels that leave their node, or that do not.
std::set<std::uint32_t> rows(const sim::Job& job, int gpus_of_a_node, bool leaving) {
  const auto node = [&](sim::Rank rank) { return static_cast<int>(rank.value) / gpus_of_a_node; };
  std::set<std::uint32_t> found;
  for (const sim::Communicator& c : job.communicators) {
    const bool leaves = std::any_of(c.members.begin(), c.members.end(), [&](sim::Rank member) {
      return node(member) != node(c.members.front());
    });
    if (leaves == leaving && c.members.size() > 1) found.insert(c.cost_row);
  }
  for (const sim::Channel& c : job.channels)
    if ((node(c.sender) != node(c.receiver)) == leaving) found.insert(c.cost_row);
  return found;
}

void hasten_transfers(sim::Job& job, const std::set<std::uint32_t>& rows) {
  for (const std::uint32_t row : rows) {
    for (sim::CollectiveCost& cost : job.collective_costs[row]) {
      cost.transfer = a_tenth_faster(cost.transfer);
      cost.slow_part = std::min(a_tenth_faster(cost.slow_part), cost.transfer);
    }
  }
}

std::vector<Change> free_clock_changes() {
  return {{"compute", {infinitely_fast, 1}, {}},
          {"memory", {1, infinitely_fast}, {}},
          {"communication", {}, free_transfers},
          {"overhead", {}, free_overhead}};
}

std::vector<Change> faster_changes(const topology::Cluster& cluster, const sim::Job& job) {
  std::vector<Change> changes = {
      {"SMs", {tenth_faster, 1}, {}}, {"memory", {1, tenth_faster}, {}}, {"host", {}, hasten_host}};
  const auto add = [&](const char* what, bool leaving) {
    std::set<std::uint32_t> which = rows(job, cluster.node.gpus, leaving);
    if (which.empty()) return;
    changes.push_back({what, {}, [which](sim::Job& changed) { hasten_transfers(changed, which); }});
  };
  const bool pcie = cluster.node.interconnect == topology::Interconnect::pcie;
  add(pcie ? "PCIe" : "NVLink", false);
  add("network ports", true);
  return changes;
}

/// The job as the scenario has it, but for the change.
sim::Job changed_job(const Scenario& scenario, workloads::StepInput input, const Change& change) {
  input.speeds = change.speeds;
  sim::Job job = std::move(workloads::build_step(input).job);
  if (change.of_job) change.of_job(job);
  apply_slow_parts(scenario, job);
  return job;
}

std::string effect(Time saved, Time step_time) {
  const double share =
      static_cast<double>(saved.count_ps()) / static_cast<double>(step_time.count_ps()) * 100;
  if (share > -0.01 && share < 0.01) return "would hardly change the step";
  if (saved < Time::zero()) return fmt::format("would make the step {:.2g} % longer", -share);
  return fmt::format("would make the step {:.2g} % shorter", share);
}

const char* free_clock_sentence(const std::string& clock) {
  if (clock == "compute") return "Arithmetic that takes no time";
  if (clock == "memory") return "Memory traffic that takes no time";
  if (clock == "communication") return "Transfers that take no time and no part of a GPU";
  return "No launches, latencies and kernel start-up";
}

std::string faster_sentence(const std::string& resource) {
  if (resource == "SMs") return "10 % more arithmetic";
  if (resource == "memory") return "10 % more memory bandwidth";
  if (resource == "host") return "A host 10 % faster at launching";
  if (resource == "network ports") return "Network ports 10 % faster";
  return resource + " 10 % faster";
}

class Explainer {
 public:
  Explainer(const DataDirectory& data, const Scenario& scenario, const SimulateOptions& options)
      : scenario_(scenario), options_(options), models_(data, scenario) {
    explanation_.result = simulate_step(data, scenario, options);
  }

  Explanation run() {
    const workloads::StepInput input = models_.input(scenario_);
    const std::vector<Change> clocks = free_clock_changes();
    const std::vector<Change> resources =
        faster_changes(scenario_.cluster, workloads::build_step(input).job);
    std::vector<Change> all = clocks;
    all.insert(all.end(), resources.begin(), resources.end());
    std::vector<Time> times(all.size());
    for_each_index(all.size(), options_.threads,
                   [&](std::size_t i) { times[i] = step_time(input, all[i]); });
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool is_clock = i < clocks.size();
      const Time base = explanation_.result.step_time;
      const Time saved = base - times[i];
      const std::string subject =
          is_clock ? free_clock_sentence(all[i].what) : faster_sentence(all[i].what);
      (is_clock ? explanation_.free_clocks : explanation_.faster_resources)
          .push_back({all[i].what, times[i], saved, subject + ' ' + effect(saved, base) + '.'});
    }
    rank(explanation_.free_clocks);
    rank(explanation_.faster_resources);
    return std::move(explanation_);
  }

 private:
  Time step_time(const workloads::StepInput& input, const Change& change) const {
    sim::Job job = changed_job(scenario_, input, change);
    if (scenario_.noise) apply_noise(*scenario_.noise, explanation_.result.seed, job);
    return sim::execute(job, execution_options(options_)).step_time;
  }

  static void rank(std::vector<WhatIf>& list) {
    std::stable_sort(list.begin(), list.end(),
                     [](const WhatIf& a, const WhatIf& b) { return a.saved > b.saved; });
  }

  const Scenario& scenario_;
  const SimulateOptions& options_;
  CostModels models_;
  Explanation explanation_;
};

}  // namespace

Explanation explain_step(const DataDirectory& data, const Scenario& scenario,
                         const SimulateOptions& options) {
  return Explainer(data, scenario, options).run();
}

}  // namespace stepsim::scenarios
