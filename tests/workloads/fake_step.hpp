#pragma once

/// A small made-up model whose work is known exactly, constant costs, and ways to look into an
/// executed job: enough to state what a strategy must keep true, free of real kernels.

#include "workloads/ddp.hpp"
#include "workloads/fsdp2.hpp"
#include "workloads/step_costs.hpp"
#include "workloads/step_job.hpp"
#include "workloads/step_work.hpp"

#include "topology/cluster.hpp"

#include "sim/executor.hpp"
#include "sim/job.hpp"
#include "sim/memory_curve.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace stepsim::workloads::testing {

/// Kernels whose name starts with «compute» take compute_us, others copy_us; a collective takes its
/// latency and its bytes over a bandwidth.
struct ConstantCosts final : CostSource {
  double compute_us = 100;
  double copy_us = 5;
  double latency_us = 10;
  double gigabytes_per_second = 100;
  sim::KernelCost kernel(const Kernel& kernel) const override;
  sim::CollectiveCost collective(topology::Collective collective, Bytes bytes,
                                 const topology::GroupShape& shape) const override;
};

struct FakeModel {
  int layers = 6;
  std::int64_t hidden = 256;
  std::int64_t vocabulary = 1000;
  bool tied = false;
  Bytes activation{1 << 20};  // one saved tensor of a block; its input is as large
  Recompute recompute = Recompute::nothing;
};

/// embedding, blocks of three forward and four backward kernels and three parameters, head.
StepWork fake_work(const FakeModel& model, StepCosts& costs, Time launch_host_time);

topology::Cluster fake_cluster(int gpus);

/// One op of a rank in time, with what it is.
struct TimedOp {
  std::string name;  // of the kernel or collective
  std::string scope;
  std::string stream;
  std::string group;  // of a collective
  Bytes bytes;        // of a collective
  Time start;
  Time end;
};

/// Everything a test asks of a job: executed, with the ops of one rank in issue order.
struct Executed {
  sim::Job job;
  sim::Execution execution;
  std::vector<TimedOp> ops;
  const sim::Program& program() const { return job.programs.front(); }
  std::vector<TimedOp> named(const std::string& name) const;
  std::vector<TimedOp> on_stream(const std::string& stream) const;
  Bytes collective_bytes(const std::string& name, const std::string& group) const;
};

Executed execute_job(sim::Job job, sim::Rank rank = {0});

/// One allocation or free of a program, in issue order.
struct MemoryEvent {
  std::uint32_t op = 0;
  bool allocates = false;
  std::string buffer;
  Bytes size;
};
std::vector<MemoryEvent> memory_events(const sim::Program& program);

/// The largest number of buffers whose name ends in `suffix` held at once, in issue order.
int most_held(const sim::Program& program, const std::string& suffix);

}  // namespace stepsim::workloads::testing
