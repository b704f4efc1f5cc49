#include "scenarios/path_contributions.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

namespace stepsim::scenarios {

namespace {

const sim::Program& program_of(const sim::Job& job, const sim::PathStep& step) {
  return job.programs[job.ranks[step.rank.index()].program.index()];
}

// What the host does; it is all overhead.
std::string host_work_name(const sim::Program& program, const sim::Op& op) {
  if (op.kind == sim::OpKind::kernel) return "kernel launches";
  if (sim::is_coupling_op(op.kind)) return "collective launches";
  if (op.kind == sim::OpKind::host_sync) return "host syncs";
  if (op.kind != sim::OpKind::host_work) return "events and allocations";
  const std::string_view scope = program.scopes[op.scope.index()];
  for (const std::string_view part : {sim::data_loader_scope, sim::optimizer_scope}) {
    if (scope.starts_with(part)) return "host work of " + std::string(part);
  }
  return "host work";
}

// «up_dgrad» of a matrix product is «gemm up dgrad», «attention_backward» «attention backward».
std::string kernel_name(const sim::KernelCost& kernel) {
  std::string name = kernel.name;
  for (const std::string_view suffix : {"_dgrad", "_wgrad", "_backward"}) {
    if (name.ends_with(suffix)) name[name.size() - suffix.size()] = ' ';
  }
  return kernel.category == "gemm" ? "gemm " + name : name;
}

struct Sum {
  Time time;
  std::int64_t count = 0;

  void add(Time part) {
    if (part == Time::zero()) return;
    time += part;
    ++count;
  }
  void add(const Sum& other) {
    time += other.time;
    count += other.count;
  }
};

using SumOfClock = std::array<Sum, sim::clock_count>;
using SumOfName = std::map<std::pair<sim::Clock, std::string>, Sum>;

/// Sums by row of the job's tables first: a path has many more steps than there are names.
class Sums {
 public:
  explicit Sums(const sim::Job& job)
      : job_(job), kernels_(job.kernels.size()), collectives_(job.collectives.size()) {}

  void add(const sim::PathStep& step) {
    const sim::Program& program = program_of(job_, step);
    const sim::Op& op = program.ops[step.op];
    if (step.issue) {
      const auto overhead = static_cast<std::size_t>(sim::Clock::overhead);
      return named_[{sim::Clock::overhead, host_work_name(program, op)}].add(
          step.by_clock[overhead]);
    }
    const bool is_kernel = op.kind == sim::OpKind::kernel;
    SumOfClock& own = is_kernel ? kernels_[op.target] : collectives_[op.target];
    for (std::size_t i = 0; i < own.size(); ++i) {
      const bool shared = static_cast<sim::Clock>(i) == sim::Clock::communication;
      own[i].add(shared ? step.by_clock[i] - step.sharing : step.by_clock[i]);
    }
    if (step.sharing == Time::zero()) return;
    named_[{sim::Clock::communication, cause_of_sharing(job_, step)}].add(step.sharing);
  }

  std::vector<PathContribution> ranked() const {
    SumOfName all = named_;
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      add_row(all, kernels_[i], kernel_name(job_.kernels[i]), "kernel start-up");
    }
    for (std::size_t i = 0; i < collectives_.size(); ++i) {
      const std::string name = job_.collectives[i].name + ' ' + job_.collectives[i].group;
      add_row(all, collectives_[i], name, name + " latency");
    }
    std::vector<PathContribution> list;
    for (const auto& [key, sum] : all) {
      list.push_back({key.second, key.first, sum.time, sum.count});
    }
    std::stable_sort(
        list.begin(), list.end(),
        [](const PathContribution& a, const PathContribution& b) { return a.time > b.time; });
    return list;
  }

 private:
  // What is overhead of an op is the fixed part of its time.
  static void add_row(SumOfName& all, const SumOfClock& row, const std::string& own,
                      const std::string& fixed) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const auto clock = static_cast<sim::Clock>(i);
      if (row[i].count == 0) continue;
      all[{clock, clock == sim::Clock::overhead ? fixed : own}].add(row[i]);
    }
  }

  const sim::Job& job_;
  std::vector<SumOfClock> kernels_;
  std::vector<SumOfClock> collectives_;
  SumOfName named_;
};

}  // namespace

std::string cause_of_sharing(const sim::Job& job, const sim::PathStep& step) {
  if (step.slowest_link) return "shares " + job.links[step.slowest_link->index()].name;
  if (!step.resident_op) return "sharing";
  const sim::Program& program = program_of(job, step);
  const sim::Op& resident = program.ops[*step.resident_op];
  return "interference with " + program.slots[resident.slot.index()].group;
}

std::vector<PathContribution> path_contributions(const sim::Job& job,
                                                 const sim::CriticalPath& path) {
  Sums sums(job);
  for (const sim::PathStep& step : path.steps) sums.add(step);
  return sums.ranked();
}

}  // namespace stepsim::scenarios
