#pragma once

/// What a collective takes of a GPU's memory bandwidth while it transfers. Private to topology.

#include "topology/collective.hpp"

#include "sim/base/data_directory.hpp"

#include <string>

namespace stepsim::topology {

/// Bytes read and written in memory for each byte that a GPU sends
/// (topology/nccl/memory_traffic.yaml).
struct MemoryTraffic {
  Sourced<double> moving;              // read, sent, written
  Sourced<double> reducing;            // read, sent, read again to be added to, written
  Sourced<double> reducing_in_switch;  // the switch adds
  std::string file;
  std::string hash;
};
MemoryTraffic load_memory_traffic(const DataDirectory& data);

/// Thousandths of the memory bandwidth of each member, at most all of it, while a collective runs
/// at an algorithm bandwidth.
std::uint32_t memory_thousandths(const MemoryTraffic& traffic, const Cluster& cluster,
                                 Collective collective, const std::string& algorithm,
                                 const GroupShape& group, double bandwidth_gb_per_s);

}  // namespace stepsim::topology
