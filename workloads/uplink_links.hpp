#pragma once

/// Uplinks of leaf switches and pods as links of a job, where they can be full: in an
/// oversubscribed fabric, or one that hashes flows onto them. Every group and channel that crosses
/// them shares them there, whatever its kind, and no other is slowed; collectives are costed as
/// though they had them alone (topology::CollectiveModel::with_whole_uplinks).
///
/// What a communicator puts on an uplink follows from the algorithms of its collectives; where they
/// differ (an all-to-all beside gatherings in one group), the largest counts for all.

#include "topology/cluster.hpp"

#include "sim/job.hpp"

namespace stepsim::workloads {

/// Whether some group of several nodes may find its uplinks full.
bool shares_uplinks(const topology::Cluster& cluster);

void share_uplinks(const topology::Cluster& cluster, sim::Job& job);

}  // namespace stepsim::workloads
