#pragma once

/// Small jobs for hand-worked tests. Times are picoseconds.

#include "sim/job.hpp"
#include "sim/program_builder.hpp"

#include <string>
#include <utility>

namespace stepsim::sim::testing {

inline Time ps(std::int64_t count) { return Time::picoseconds(count); }

/// A job whose kernels and collectives are made as tests name them.
struct JobFixture {
  Job job;

  JobFixture() { job.collective_costs.emplace_back(); }

  /// A kernel of `time`, of which `fixed` is overhead.
  KernelId kernel(std::int64_t time, std::int64_t fixed = 0, Clock clock = Clock::compute) {
    job.kernels.push_back(
        {"kernel " + std::to_string(time), "gemm", ps(fixed), ps(time), clock, false});
    return KernelId{static_cast<std::uint32_t>(job.kernels.size() - 1)};
  }

  CollectiveId collective(std::string name, std::int64_t latency, std::int64_t transfer,
                          std::string group = "shard") {
    job.collectives.push_back({std::move(name), std::move(group), Bytes(1024)});
    job.collective_costs[0].push_back({ps(latency), ps(transfer), "ring", false});
    return CollectiveId{static_cast<std::uint32_t>(job.collectives.size() - 1)};
  }

  std::uint32_t communicator(std::vector<Rank> members, std::string group = "shard") {
    job.communicators.push_back({std::move(group), std::move(members), 0});
    return static_cast<std::uint32_t>(job.communicators.size() - 1);
  }

  std::uint32_t channel(Rank sender, Rank receiver, std::string group = "pipeline") {
    job.channels.push_back({std::move(group), sender, receiver, 0});
    return static_cast<std::uint32_t>(job.channels.size() - 1);
  }

  ProgramId program(ProgramBuilder& builder) {
    job.programs.push_back(builder.finish());
    return ProgramId{static_cast<std::uint32_t>(job.programs.size() - 1)};
  }

  Rank rank(ProgramId program, std::vector<std::uint32_t> bindings = {}) {
    job.ranks.push_back({program, std::move(bindings)});
    return Rank{static_cast<std::uint32_t>(job.ranks.size() - 1)};
  }

  /// A rank with a program of its own.
  Rank rank(ProgramBuilder& builder, std::vector<std::uint32_t> bindings = {}) {
    return rank(program(builder), std::move(bindings));
  }
};

}  // namespace stepsim::sim::testing
