#include "topology/group_cost.hpp"

#include "topology/nccl/channels.hpp"

#include "sim/base/error.hpp"

#include <algorithm>
#include <iterator>

namespace stepsim::topology {

namespace {

bool is_messages(Collective collective) {
  return collective == Collective::all_to_all || collective == Collective::send_receive;
}

nccl::Operation operation_of(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
      return nccl::Operation::all_reduce;
    case Collective::all_gather:
      return nccl::Operation::all_gather;
    case Collective::reduce_scatter:
      return nccl::Operation::reduce_scatter;
    default:
      return nccl::Operation::broadcast;
  }
}

nccl::Communicator make_communicator(const Cluster& cluster, const nccl::TunerTables& tuner,
                                     const nccl::SearchTables& search, const GroupShape& group) {
  nccl::Communicator communicator;
  communicator.group = {group.ranks, group.nodes, group.ranks_per_node, group.nics_per_node};
  communicator.links = nccl::node_links(cluster.node, search);
  if (!group.one_nvlink_domain) {
    communicator.links.nvlink = 0;
    communicator.links.in_switch_reduction = false;
  }
  communicator.graphs = nccl::search_graphs(communicator.links, communicator.group, search);
  communicator.network_overhead_us =
      search.network_overhead_us[static_cast<std::size_t>(communicator.links.cpu)];
  communicator.network_latency_us = 1e6 * cluster.network_latency.seconds();
  communicator.tables = &tuner;
  return communicator;
}

/// The candidates a user's settings leave. A setting that no candidate meets is for other
/// collectives.
std::vector<nccl::Candidate> allowed(std::vector<nccl::Candidate> candidates,
                                     const NcclSettings& settings) {
  const auto keep_if = [&](const auto& meets) {
    std::vector<nccl::Candidate> kept;
    std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(kept), meets);
    if (!kept.empty()) candidates = std::move(kept);
  };
  if (settings.nvls == NcclSettings::Nvls::off) {
    keep_if([](const nccl::Candidate& one) {
      return one.algorithm != nccl::Algorithm::nvls && one.algorithm != nccl::Algorithm::nvls_tree;
    });
  }
  if (!settings.algorithm.empty()) {
    keep_if([&](const nccl::Candidate& one) {
      return settings.algorithm == nccl::to_string(one.algorithm);
    });
  }
  if (!settings.protocol.empty()) {
    keep_if([&](const nccl::Candidate& one) {
      return settings.protocol == nccl::to_string(one.protocol);
    });
  }
  return candidates;
}

double wire_us(const LinkLoad& load, Bytes bytes) {
  return load.share * static_cast<double>(bytes.count()) / (1000 * load.gb_per_s);
}

}  // namespace

GroupCost::GroupCost(const Cluster& cluster, const nccl::TunerTables& tuner,
                     const nccl::SearchTables& search, const PointToPointTables& point_to_point,
                     const Calibration* calibration, const NcclSettings& settings,
                     UplinkPart uplink_part, Collective collective, const GroupShape& group)
    : cluster_(cluster),
      point_to_point_(point_to_point),
      settings_(settings),
      uplink_part_(uplink_part),
      collective_(collective),
      group_(group),
      thread_block_most_(
          nccl::entry_for(search.thread_block_most, cluster.node.device.compute_capability)),
      communicator_(make_communicator(cluster, tuner, search, group)) {
  communicator_.in_network_reduction = settings.sharp == NcclSettings::Sharp::on;
  if (!is_messages(collective)) {
    candidates_ = allowed(nccl::candidates(communicator_, operation_of(collective)), settings);
    if (candidates_.empty()) {
      throw InputError(Diagnostic{{cluster.node.file},
                                  {},
                                  "no channel fits the links of node \"" + cluster.node.name + "\"",
                                  "a faster port, PCIe generation or link between sockets",
                                  {}});
    }
  }
  if (calibration != nullptr) {
    calibration_.emplace(*calibration, cluster.node, tuner.version, group);
  }
}

SizedCost GroupCost::at(Bytes bytes) const {
  SizedCost cost = is_messages(collective_) ? messages(bytes) : tuned(bytes);
  limit_channels(cost, bytes);
  if (group_.nodes > 1) hold_to_wires(cost, bytes);
  return cost;
}

template <class Predicted>
void GroupCost::calibrate(SizedCost& cost, Bytes bytes, Predicted predicted_us) const {
  if (!calibration_) return;
  const GroupCalibration::Factor factor =
      calibration_->factor(collective_, cost.algorithm, cost.protocol, bytes, predicted_us);
  cost.latency_us *= factor.value;
  cost.time_us *= factor.value;
  cost.assumed = factor.assumed;
}

SizedCost GroupCost::tuned(Bytes bytes) const {
  const nccl::Operation operation = operation_of(collective_);
  const nccl::Choice choice =
      nccl::choose(communicator_, operation, candidates_, bytes).value_or(nccl::Choice{});
  SizedCost cost{to_string(choice.algorithm),
                 to_string(choice.protocol),
                 nccl::channels_used(communicator_, choice, bytes),
                 choice.latency_us,
                 choice.time_us,
                 false};
  const auto candidate =
      std::find_if(candidates_.begin(), candidates_.end(), [&](const nccl::Candidate& one) {
        return one.algorithm == choice.algorithm && one.protocol == choice.protocol;
      });
  calibrate(cost, bytes, [&](Bytes size) {
    return nccl::predict(communicator_, operation, *candidate, size).time_us;
  });
  return cost;
}

SizedCost GroupCost::messages(Bytes bytes) const {
  const auto cost_of = [&](Bytes size) {
    return collective_ == Collective::all_to_all
               ? all_to_all_cost(cluster_.node, communicator_, point_to_point_, size)
               : send_receive_cost(cluster_.node, communicator_, point_to_point_, size);
  };
  const auto time_of = [](const MessageCost& message, Bytes size) {
    return message.latency_us + static_cast<double>(size.count()) / (1000 * message.bandwidth);
  };
  const MessageCost message = cost_of(bytes);
  SizedCost cost{"point_to_point",   to_string(message.protocol), message.channels,
                 message.latency_us, time_of(message, bytes),     false};
  calibrate(cost, bytes, [&](Bytes size) { return time_of(cost_of(size), size); });
  return cost;
}

/// With fewer thread blocks than NCCL would take, a GPU sends no more than they can.
void GroupCost::limit_channels(SizedCost& cost, Bytes bytes) const {
  if (settings_.most_channels == 0 || cost.channels <= settings_.most_channels) return;
  cost.channels = settings_.most_channels;
  double sent = 0;  // by one GPU, as a multiple of the collective's bytes
  for (const LinkLoad& load : loads(cost)) {
    if (load.link == LinkClass::gpu) sent += load.share;
    if (load.link == LinkClass::port) sent += load.share / group_.ranks_per_node;
  }
  const double gb_per_s = settings_.most_channels * thread_block_most_;
  const double least_us = sent * static_cast<double>(bytes.count()) / (1000 * gb_per_s);
  if (cost.latency_us + least_us <= cost.time_us) return;
  cost.time_us = cost.latency_us + least_us;
  cost.assumed = true;
}

std::vector<LinkLoad> GroupCost::loads(const SizedCost& cost) const {
  const double port = std::min(communicator_.links.port, communicator_.links.pcie);
  return link_loads(cluster_, collective_, cost.algorithm, group_, port, uplink_part_);
}

double GroupCost::port_us(const SizedCost& cost, Bytes bytes) const {
  for (const LinkLoad& load : loads(cost)) {
    if (load.link == LinkClass::port) return wire_us(load, bytes);
  }
  return 0;
}

/// No faster than the busiest link between nodes carries its bytes.
void GroupCost::hold_to_wires(SizedCost& cost, Bytes bytes) const {
  for (const LinkLoad& load : loads(cost)) {
    if (load.link == LinkClass::gpu) continue;
    cost.time_us = std::max(cost.time_us, cost.latency_us + wire_us(load, bytes));
  }
}

}  // namespace stepsim::topology
