#include "topology/point_to_point.hpp"

#include "topology/nccl/channels.hpp"
#include "topology/profile_file.hpp"

#include <algorithm>

namespace stepsim::topology {

namespace {

/// A message this small for each channel goes by the LL protocol.
constexpr std::int64_t ll_bytes_of_a_channel = 16384;
/// Operations a thread block works on at once.
constexpr int operations_at_once = 8;

nccl::PeerPath path_inside(const nccl::Communicator& communicator) {
  return communicator.links.nvlink > 0 ? nccl::PeerPath::nvlink : nccl::PeerPath::pci;
}

/// What one GPU sends to the others of its node, in GB/s.
double rate_inside(const Node& node, const nccl::Communicator& communicator,
                   const PointToPointTables& tables) {
  if (path_inside(communicator) == nccl::PeerPath::pci) {
    return tables.pcie_efficiency.value *
           std::min(communicator.links.pcie, communicator.links.socket);
  }
  return tables.nvlink_efficiency.value * node.nvlink_bandwidth.value.gigabytes_per_second();
}

/// What the ports of a group's members on one node send, in GB/s.
double rate_between(const nccl::Communicator& communicator, const PointToPointTables& tables) {
  return communicator.group.ports_per_node *
         std::min(tables.network_efficiency.value * communicator.links.port,
                  communicator.links.pcie);
}

double latency_us(const nccl::Communicator& communicator, nccl::PeerPath path,
                  nccl::Protocol protocol, int rounds) {
  const auto hop = path == nccl::PeerPath::network  ? nccl::Hop::network
                   : path == nccl::PeerPath::nvlink ? nccl::Hop::nvlink
                                                    : nccl::Hop::pci;
  const auto ring = static_cast<std::size_t>(nccl::Algorithm::ring);
  const auto column = static_cast<std::size_t>(protocol);
  const nccl::TunerTables& tables = *communicator.tables;
  double hop_us = tables.hop_latency_us[static_cast<std::size_t>(hop)][ring][column];
  if (hop == nccl::Hop::network) hop_us += communicator.network_latency_us;
  return tables.base_latency_us[ring][column] + rounds * hop_us;
}

}  // namespace

PointToPointTables load_point_to_point_tables(const DataDirectory& data) {
  const auto read_keys = [](ObjectReader& reader, PointToPointTables& tables) {
    const Number share{.least = 0.01, .most = 1};
    reader.required("nvlink_efficiency", tables.nvlink_efficiency, share);
    reader.required("pcie_efficiency", tables.pcie_efficiency, share);
    reader.required("network_efficiency", tables.network_efficiency, share);
  };
  return read_constants<PointToPointTables>(data, "point_to_point.yaml", read_keys);
}

MessageCost send_receive_cost(const Node& node, const nccl::Communicator& communicator,
                              const PointToPointTables& tables, Bytes bytes) {
  const bool between_nodes = communicator.group.nodes > 1;
  const nccl::PeerPath path = between_nodes ? nccl::PeerPath::network : path_inside(communicator);
  MessageCost cost;
  cost.channels = nccl::point_to_point_channels(communicator, path, bytes);
  const bool small = !between_nodes && bytes.count() <= cost.channels * ll_bytes_of_a_channel;
  cost.protocol = small ? nccl::Protocol::ll : nccl::Protocol::simple;
  cost.latency_us = latency_us(communicator, path, cost.protocol, 1);
  cost.bandwidth =
      between_nodes ? rate_between(communicator, tables) : rate_inside(node, communicator, tables);
  // LL spends half of every store on flags.
  if (small) cost.bandwidth /= 2;
  return cost;
}

MessageCost all_to_all_cost(const Node& node, const nccl::Communicator& communicator,
                            const PointToPointTables& tables, Bytes bytes) {
  const double ranks = communicator.group.ranks;
  const double ranks_per_node = communicator.group.ranks_per_node;
  const bool between_nodes = communicator.group.nodes > 1;
  const nccl::PeerPath path = between_nodes ? nccl::PeerPath::network : path_inside(communicator);
  const int rounds = (communicator.group.ranks + operations_at_once - 1) / operations_at_once;
  // Seconds for a gigabyte of buffer.
  double time = (ranks_per_node - 1) / ranks / rate_inside(node, communicator, tables);
  if (between_nodes) {
    const double leaving = ranks_per_node * (ranks - ranks_per_node) / ranks;
    time = std::max(time, leaving / rate_between(communicator, tables));
  }
  MessageCost cost;
  cost.channels = nccl::point_to_point_channels(communicator, path, bytes);
  cost.latency_us = latency_us(communicator, path, nccl::Protocol::simple, rounds);
  cost.bandwidth = 1 / time;
  return cost;
}

}  // namespace stepsim::topology
