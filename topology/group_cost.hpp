#pragma once

/// One collective on one kind of group, at any size: NCCL's choice, its calibrated time, and the
/// limit of the wires between nodes. Private to topology; CollectiveModel is the face of it.

#include "topology/collective_calibration.hpp"
#include "topology/link_load.hpp"
#include "topology/nccl/tuning.hpp"
#include "topology/point_to_point.hpp"

#include <optional>
#include <string>
#include <vector>

namespace stepsim::topology {

struct SizedCost {
  std::string algorithm;
  std::string protocol;
  int channels = 0;
  double latency_us = 0;
  double time_us = 0;
  bool assumed = false;
};

class GroupCost {
 public:
  /// `calibration` may be null: NCCL's own prediction. The arguments must outlive the object.
  GroupCost(const Cluster& cluster, const nccl::TunerTables& tuner,
            const nccl::SearchTables& search, const PointToPointTables& point_to_point,
            const Calibration* calibration, const NcclSettings& settings, UplinkPart uplink_part,
            Collective collective, const GroupShape& group);

  SizedCost at(Bytes bytes) const;
  /// How long the group's part of a node's ports needs for what it sends through them; 0 on one
  /// node.
  double port_us(const SizedCost& cost, Bytes bytes) const;

 private:
  SizedCost tuned(Bytes bytes) const;
  SizedCost messages(Bytes bytes) const;
  void limit_channels(SizedCost& cost, Bytes bytes) const;
  void hold_to_wires(SizedCost& cost, Bytes bytes) const;
  std::vector<LinkLoad> loads(const SizedCost& cost) const;
  template <class Predicted>
  void calibrate(SizedCost& cost, Bytes bytes, Predicted predicted_us) const;

  const Cluster& cluster_;
  const PointToPointTables& point_to_point_;
  const NcclSettings& settings_;
  UplinkPart uplink_part_;
  Collective collective_;
  GroupShape group_;
  double thread_block_most_;  // GB/s
  nccl::Communicator communicator_;
  std::vector<nccl::Candidate> candidates_;
  std::optional<GroupCalibration> calibration_;
};

}  // namespace stepsim::topology
