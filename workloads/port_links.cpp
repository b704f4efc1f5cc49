#include "workloads/port_links.hpp"

#include "topology/link_load.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace stepsim::workloads {

namespace {

/// A communicator that leaves its nodes, and how many groups like it share a port.
struct Crossing {
  std::size_t communicator = 0;
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
    if (shape.nodes > 1) found.push_back({i, shape.port_sharers});
  }
  return found;
}

bool of_several_kinds(const sim::Job& job, const std::vector<Crossing>& crossings) {
  return std::any_of(crossings.begin(), crossings.end(), [&](const Crossing& crossing) {
    return job.communicators[crossing.communicator].group !=
           job.communicators[crossings.front().communicator].group;
  });
}

using Port = std::pair<int, int>;  // node, port of the node

/// The ports next to the members; several GPUs may have one port, and one GPU several.
std::set<Port> ports_of(const topology::Cluster& cluster, const std::vector<sim::Rank>& members) {
  const int gpus = cluster.node.gpus;
  const int ports = cluster.node.nics.value;
  std::set<Port> found;
  for (const sim::Rank member : members) {
    const int node = static_cast<int>(member.value) / gpus;
    const int place = static_cast<int>(member.value) % gpus;
    const int first = place * ports / gpus;
    const int end = std::max(first + 1, (place + 1) * ports / gpus);
    for (int port = first; port < end; ++port) found.insert({node, port});
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
    if (is_new)
      job_.links.push_back(
          {"port " + std::to_string(port.second) + " of node " + std::to_string(port.first),
           topology::rate_of_ports(topology::port_millionths(cluster_, port.first)) * parts_});
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
  for (const Crossing& crossing : all) {
    sim::Communicator& communicator = job.communicators[crossing.communicator];
    const auto times = static_cast<std::uint32_t>(parts / crossing.port_sharers);
    for (const Port& port : ports_of(cluster, communicator.members))
      communicator.links.push_back({links.of(port), times});
    std::sort(communicator.links.begin(), communicator.links.end());
  }
}

}  // namespace stepsim::workloads
