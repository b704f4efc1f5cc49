#pragma once

/// What a collective or a point-to-point message costs on a cluster: NCCL's own choice of algorithm
/// and protocol and its own prediction of latency and bandwidth (see topology/nccl/), times a
/// calibration factor of the system where one has been measured.

#include "topology/cluster.hpp"

#include "sim/job.hpp"

#include "sim/base/units.hpp"

#include <string>
#include <vector>

namespace stepsim::topology {

enum class Collective {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  all_to_all,
  send_receive,
};
const char* to_string(Collective collective);

/// bytes counted as nccl-tests does: the full gathered or scattered buffer; the whole send buffer
/// for all-to-all; the message for send_receive.
struct CollectivePrediction {
  std::string algorithm;  // «ring», «tree», «nvls», …
  std::string protocol;   // «LL», «LL128», «Simple»
  int channels = 0;       // thread blocks held on each member: SMs taken from compute
  double latency_us = 0;
  double bandwidth_gb_per_s = 0;      // algorithm bandwidth: bytes / transfer time
  double time_us = 0;                 // latency + bytes / bandwidth
  double bus_bandwidth_gb_per_s = 0;  // time_us restated as nccl-tests' busbw
  bool assumed = false;
};

class CollectiveModel {
 public:
  /// nccl_version such as «2.27.7»: takes the newest tables that are not newer.
  CollectiveModel(const DataDirectory& data, const Cluster& cluster,
                  const std::string& nccl_version);

  CollectivePrediction predict(Collective collective, Bytes bytes, const GroupShape& group) const;
  /// The same as what the engine takes: exact integer picoseconds.
  sim::CollectiveCost cost(Collective collective, Bytes bytes, const GroupShape& group) const;
};

}  // namespace stepsim::topology
