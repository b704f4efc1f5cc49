#pragma once

/// Network ports as links of a job, where groups of different kinds cross them at one time.
///
/// Collectives of one kind of group are costed with their fair part of a node's ports, as all
/// groups of the kind run at once. Where two kinds leave the node (sharding groups over several
/// nodes, and the replicas of each shard), one of each can be in flight on a port: then they share
/// it, and only then are there links. Messages between pipeline stages are one more kind: they go
/// out by a port of the sender and in by one of the receiver. docs/interference.md has an example.

#include "topology/cluster.hpp"

#include "sim/job.hpp"

namespace stepsim::workloads {

void share_ports(const topology::Cluster& cluster, sim::Job& job);

}  // namespace stepsim::workloads
