#pragma once

/// Messages between pairs of GPUs: one send and its receive, and all-to-all, which NCCL runs as a
/// group of them. Rules: NCCL 2.30.7, src/enqueue.cc (channels, protocol, eight operations at a
/// time in a thread block); closed form and efficiencies in topology/nccl/point_to_point.yaml.

#include "topology/cluster.hpp"
#include "topology/nccl/tuning.hpp"

#include "sim/base/data_directory.hpp"

namespace stepsim::topology {

/// What part of a link's rate messages reach.
struct PointToPointTables {
  Sourced<double> nvlink_efficiency;   // of the datasheet rate
  Sourced<double> pcie_efficiency;     // of what NCCL's graph search counts
  Sourced<double> network_efficiency;  // of a port's line rate
  std::string file;
  std::string hash;
};
PointToPointTables load_point_to_point_tables(const DataDirectory& data);

/// A straight line: time = latency + bytes / bandwidth.
struct MessageCost {
  nccl::Protocol protocol = nccl::Protocol::simple;
  int channels = 0;
  double latency_us = 0;
  double bandwidth = 0;  // GB/s of the bytes as nccl-tests counts them
};

/// One message between two GPUs, on one node or on two.
MessageCost send_receive_cost(const Node& node, const nccl::Communicator& communicator,
                              const PointToPointTables& tables, Bytes bytes);

/// Every rank sends its buffer of `bytes` in equal parts to all: what stays in the node and what
/// leaves it move at the same time, and the slower decides.
MessageCost all_to_all_cost(const Node& node, const nccl::Communicator& communicator,
                            const PointToPointTables& tables, Bytes bytes);

}  // namespace stepsim::topology
