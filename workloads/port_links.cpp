#include "workloads/port_links.hpp"

#include "topology/crossed_uplinks.hpp"
#include "topology/link_load.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace stepsim::workloads {

namespace {

/// A communicator or channel that leaves its nodes, and how many groups like it share a port.
struct Crossing {
  std::size_t place = 0;  // among the communicators, or among the channels
  bool is_channel = false;
  int port_sharers = 1;
};

/// A scalar, such as a gradient norm's sum, is no load.
constexpr Bytes least_shared{1024};

bool sends_scalars_only(const sim::Job& job, const std::string& group) {
  bool sends = false;
  for (const sim::CollectiveSpec& spec : job.collectives) {
    if (spec.group != group) continue;
    if (spec.bytes >= least_shared) return false;
    sends = true;
  }
  return sends;
}

std::vector<Crossing> crossings(const topology::Cluster& cluster, const sim::Job& job) {
  std::vector<Crossing> found;
  for (std::size_t i = 0; i < job.communicators.size(); ++i) {
    if (sends_scalars_only(job, job.communicators[i].group)) continue;
    const topology::GroupShape shape = topology::group_shape(cluster, job.communicators[i].members);
    if (shape.nodes > 1) found.push_back({i, false, shape.port_sharers});
  }
  for (std::size_t i = 0; i < job.channels.size(); ++i) {
    const sim::Channel& channel = job.channels[i];
    const topology::GroupShape shape =
        topology::group_shape(cluster, {channel.sender, channel.receiver});
    if (shape.nodes > 1) found.push_back({i, true, shape.port_sharers});
  }
  return found;
}

bool of_several_kinds(const sim::Job& job, const std::vector<Crossing>& crossings) {
  const auto group = [&](const Crossing& crossing) -> const std::string& {
    return crossing.is_channel ? job.channels[crossing.place].group
                               : job.communicators[crossing.place].group;
  };
  return std::any_of(crossings.begin(), crossings.end(), [&](const Crossing& crossing) {
    return group(crossing) != group(crossings.front());
  });
}

/// Node, port of the node, and whether it is the way in. Without messages the ways need not be told
/// apart: collectives send as much as they receive.
using Port = std::tuple<int, int, bool>;

/// The ports next to the ranks.
std::set<Port> ports_of(const topology::Cluster& cluster, const std::vector<sim::Rank>& ranks,
                        bool inwards) {
  std::set<Port> found;
  for (const sim::Rank rank : ranks) {
    const int node = static_cast<int>(rank.value) / cluster.node.gpus;
    for (const int port : topology::ports_next_to(cluster, rank))
      found.insert({node, port, inwards});
  }
  return found;
}

/// Makes a link of each port when it is first crossed.
class PortLinks {
 public:
  /// Ports carry `parts` times what fills a group's part of them.
  PortLinks(const topology::Cluster& cluster, sim::Job& job, int parts)
      : cluster_(cluster), job_(job), parts_(parts) {}

  sim::LinkId of(const Port& port) {
    const auto next = static_cast<std::uint32_t>(job_.links.size());
    const auto [known, is_new] = links_.try_emplace(port, sim::LinkId{next});
    const auto& [node, number, inwards] = port;
    if (is_new)
      job_.links.push_back(
          {"port " + std::to_string(number) + " of node " + std::to_string(node) +
               (inwards ? ", inwards" : ""),
           topology::rate_of_ports(topology::port_millionths(cluster_, node)) * parts_});
    return known->second;
  }

 private:
  const topology::Cluster& cluster_;
  sim::Job& job_;
  int parts_;
  std::map<Port, sim::LinkId> links_;
};

}  // namespace

void share_ports(const topology::Cluster& cluster, sim::Job& job) {
  const std::vector<Crossing> all = crossings(cluster, job);
  if (!of_several_kinds(job, all)) return;
  // Rates count from a group's fair part of a port: in parts that divide every group's.
  int parts = 1;
  for (const Crossing& crossing : all) parts = std::lcm(parts, crossing.port_sharers);
  PortLinks links(cluster, job, parts);
  const bool messages = std::any_of(all.begin(), all.end(),
                                    [](const Crossing& crossing) { return crossing.is_channel; });
  const auto cross = [&](std::vector<sim::LinkUse>& uses, int port_sharers,
                         const std::vector<sim::Rank>& ranks, bool inwards) {
    const auto times = static_cast<std::uint32_t>(parts / port_sharers);
    for (const Port& port : ports_of(cluster, ranks, inwards))
      uses.push_back({links.of(port), times});
    std::sort(uses.begin(), uses.end());
  };
  for (const Crossing& crossing : all) {
    const int sharers = crossing.port_sharers;
    if (crossing.is_channel) {
      sim::Channel& channel = job.channels[crossing.place];
      cross(channel.links, sharers, {channel.sender}, false);
      cross(channel.links, sharers, {channel.receiver}, true);
    } else {
      sim::Communicator& communicator = job.communicators[crossing.place];
      cross(communicator.links, sharers, communicator.members, false);
      if (messages) cross(communicator.links, sharers, communicator.members, true);
    }
  }
}

}  // namespace stepsim::workloads
