#pragma once

/// The rows of a job's cost tables, each made once: kernels are costed when first asked for,
/// collectives are noted and costed per kind of communicator when the job is put together.

#include "workloads/kernel.hpp"
#include "workloads/kernel_sharing.hpp"

#include "topology/collective.hpp"

#include "sim/ids.hpp"
#include "sim/job.hpp"

#include "sim/base/units.hpp"

#include <map>
#include <string>
#include <vector>

namespace stepsim::workloads {

/// A kernel that only moves bytes.
Kernel streaming_kernel(const char* name, StreamingKind kind, std::int64_t bytes_read,
                        std::int64_t bytes_written);

/// Where costs come from: the models of kernels and collectives, or constants in a test.
class CostSource {
 public:
  virtual ~CostSource() = default;
  virtual sim::KernelCost kernel(const Kernel& kernel) const = 0;
  virtual sim::CollectiveCost collective(topology::Collective collective, Bytes bytes,
                                         const topology::GroupShape& shape) const = 0;
  /// How the kernel slows while collectives take so much of the device. Without: not at all.
  virtual sim::KernelSharing sharing(const Kernel& kernel, const TakenLevels& levels) const;
};

/// Every kernel and every collective takes no time: for programs of which only memory is asked.
class NoCost final : public CostSource {
 public:
  sim::KernelCost kernel(const Kernel& kernel) const override;
  sim::CollectiveCost collective(topology::Collective collective, Bytes bytes,
                                 const topology::GroupShape& shape) const override;
};

struct KernelLess {
  bool operator()(const Kernel& a, const Kernel& b) const;
};

class StepCosts {
 public:
  explicit StepCosts(const CostSource& source) : source_(source) {}

  sim::KernelId kernel(const Kernel& kernel);
  sim::CollectiveId collective(topology::Collective collective, const std::string& group,
                               Bytes bytes);
  /// The costs of all collectives of `group` on communicators of one shape; rows of other groups
  /// stay zero and are never looked at.
  std::vector<sim::CollectiveCost> collective_row(const std::string& group,
                                                  const topology::GroupShape& shape) const;

  /// Gives every kernel its speeds at the levels.
  void share(const TakenLevels& levels);

  const Kernel& work_of(sim::KernelId id) const { return kernel_work_[id.index()]; }
  std::vector<sim::KernelCost> take_kernels() { return std::move(kernels_); }
  std::vector<sim::CollectiveSpec> collective_specs() const { return collectives_; }

 private:
  const CostSource& source_;
  std::map<Kernel, sim::KernelId, KernelLess> kernel_ids_;
  std::vector<sim::KernelCost> kernels_;
  std::vector<Kernel> kernel_work_;
  std::map<std::pair<std::string, std::pair<topology::Collective, std::int64_t>>, sim::CollectiveId>
      collective_ids_;
  std::vector<sim::CollectiveSpec> collectives_;
  std::vector<topology::Collective> collective_kinds_;
};

}  // namespace stepsim::workloads
