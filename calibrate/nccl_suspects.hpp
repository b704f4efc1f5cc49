#pragma once

/// Why a collective may be slower (or faster) than expected: faults that can be simulated, each
/// predicted over the measured sizes and scored by how well it fits the curve.

#include "calibrate/nccl_curve.hpp"

#include "topology/cluster.hpp"
#include "topology/collective.hpp"

#include <string>
#include <vector>

namespace stepsim::calibrate {

/// What was measured, as the model sees it.
struct MeasuredGroup {
  topology::Cluster cluster;
  std::vector<sim::Rank> members;
  topology::Collective collective = topology::Collective::all_reduce;
  topology::NcclSettings nccl;
};

/// The shape of the members' group when no other group runs, as nccl-tests measures it.
topology::GroupShape lone_group_shape(const topology::Cluster& cluster,
                                      const std::vector<sim::Rank>& members);

struct Suspect {
  std::string key;       // «one_port»: never changes meaning
  std::string cause;     // «one network port of 8 is used»
  std::string predicts;  // what it makes of the curve
  std::string test;      // what would confirm it
  /// Weighted mean |ln(measured / predicted)|: 0.1 is ten percent.
  double error = 0;
  /// Added to `error` when suspects are ranked: what its free parameters would win on noise alone.
  double handicap = 0;
  std::vector<double> predicted_us;  // a point of the curve each
};

/// Microseconds of each point on some cluster of which the group's members are.
std::vector<double> predicted_times(const topology::CollectiveModel& model,
                                    const topology::Cluster& cluster, const MeasuredGroup& measured,
                                    const std::vector<CurvePoint>& curve);

/// Faults that slow a collective; each kind once, with the parameter that fits best; best first.
std::vector<Suspect> slow_suspects(const topology::CollectiveModel& model,
                                   const MeasuredGroup& measured,
                                   const std::vector<CurvePoint>& curve);
/// What makes it faster than expected.
std::vector<Suspect> fast_suspects(const topology::CollectiveModel& model,
                                   const MeasuredGroup& measured,
                                   const std::vector<CurvePoint>& curve);
/// Time added to every call; what a slow launch does to small messages.
Suspect launch_suspect(const topology::CollectiveModel& model, const MeasuredGroup& measured,
                       const std::vector<CurvePoint>& curve);

}  // namespace stepsim::calibrate
