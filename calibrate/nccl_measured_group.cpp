#include "calibrate/nccl_measured_group.hpp"

#include "sim/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stepsim::calibrate {

namespace {

constexpr int most_gpus = 1'000'000;

[[noreturn]] void refuse(const std::string& file, const std::string& problem,
                         const std::string& expected) {
  throw InputError(Diagnostic{{file}, "", problem, expected, ""});
}

std::string ranks_text(const NcclTestsLog& log) {
  if (log.ranks > 0) return std::to_string(log.ranks);
  if (log.least_ranks == log.most_ranks) return std::to_string(log.least_ranks);
  return fmt::format("{} to {}", log.least_ranks, log.most_ranks);
}

// The ranks of the log, when it says or shows them beyond doubt; 0 otherwise.
int ranks_of(const NcclTestsLog& log) {
  if (log.ranks > 0) return log.ranks;
  return log.least_ranks == log.most_ranks ? log.least_ranks : 0;
}

int nodes_of(const NcclTestsLog& log, const MeasuredRun& run) {
  if (run.nodes) return *run.nodes;
  if (log.hosts > 0) return log.hosts;
  const int ranks = run.gpus.value_or(ranks_of(log));
  if (ranks == 0) refuse(log.file, "does not say how many nodes it is of", "--nodes");
  return (ranks + run.node.gpus - 1) / run.node.gpus;
}

int gpus_of(const NcclTestsLog& log, const MeasuredRun& run, int nodes) {
  if (run.gpus) return *run.gpus;
  if (const int ranks = ranks_of(log); ranks > 0) return ranks;
  const std::int64_t all = static_cast<std::int64_t>(nodes) * run.node.gpus;
  if (all >= log.least_ranks && all <= log.most_ranks) return static_cast<int>(all);
  refuse(log.file,
         fmt::format("is of {} ranks by its bus bandwidths, not of the {} GPUs of {} {}",
                     ranks_text(log), all, nodes, run.node.name),
         "--gpus");
}

void check(const NcclTestsLog& log, const MeasuredRun& run, int nodes, int gpus) {
  if (nodes < 1 || nodes > most_gpus) refuse({}, fmt::format("--nodes is {}", nodes), "at least 1");
  if (gpus < 2 || gpus > most_gpus) {
    refuse({}, fmt::format("{} GPUs have nothing to send each other", gpus), "at least 2 GPUs");
  }
  const std::int64_t room = static_cast<std::int64_t>(nodes) * run.node.gpus;
  if (gpus > room || gpus < nodes) {
    refuse({},
           fmt::format("{} GPUs are not on {} node{} of {}", gpus, nodes, nodes == 1 ? "" : "s",
                       run.node.gpus),
           fmt::format("{} to {} GPUs", std::max(2, nodes), room));
  }
  const bool listed = log.ranks == 0 || log.ranks == gpus;
  if (!listed || gpus < log.least_ranks || gpus > log.most_ranks) {
    refuse(log.file, fmt::format("is of {} ranks, not of {}", ranks_text(log), gpus),
           fmt::format("--gpus {}", ranks_text(log)));
  }
}

// As many on each node as on any other, the first ones first.
std::vector<sim::Rank> members_of(int nodes, int gpus, int gpus_per_node) {
  std::vector<sim::Rank> members;
  for (int node = 0; node < nodes; ++node) {
    const int here = gpus / nodes + (node < gpus % nodes ? 1 : 0);
    for (int gpu = 0; gpu < here; ++gpu) {
      members.push_back(sim::Rank{static_cast<std::uint32_t>(node * gpus_per_node + gpu)});
    }
  }
  return members;
}

}  // namespace

MeasuredGroup measured_group(const NcclTestsLog& log, const MeasuredRun& run,
                             std::vector<std::string>& notes) {
  const int nodes = nodes_of(log, run);
  if (nodes < 1 || nodes > most_gpus) refuse({}, fmt::format("--nodes is {}", nodes), "at least 1");
  const int gpus = gpus_of(log, run, nodes);
  check(log, run, nodes, gpus);
  if (log.hosts > 0 && log.hosts != nodes) {
    notes.push_back(
        fmt::format("the log lists {} hosts, but {} nodes are compared", log.hosts, nodes));
  }
  MeasuredGroup measured;
  measured.cluster.node = run.node;
  measured.cluster.nodes = nodes;
  measured.cluster.gpus = nodes * run.node.gpus;
  measured.members = members_of(nodes, gpus, run.node.gpus);
  measured.collective = log.collective;
  measured.nccl = run.nccl;
  return measured;
}

}  // namespace stepsim::calibrate
