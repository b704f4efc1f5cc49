#include "topology/collective_memory_traffic.hpp"

#include "topology/link_load.hpp"
#include "topology/profile_file.hpp"

#include <algorithm>
#include <cmath>

namespace stepsim::topology {

namespace {

double traffic_of(const MemoryTraffic& traffic, Collective collective,
                  const std::string& algorithm) {
  const bool reduces =
      collective == Collective::all_reduce || collective == Collective::reduce_scatter;
  if (!reduces) return traffic.moving.value;
  const bool in_switch = algorithm == "nvls" || algorithm == "nvls_tree";
  return in_switch ? traffic.reducing_in_switch.value : traffic.reducing.value;
}

}  // namespace

MemoryTraffic load_memory_traffic(const DataDirectory& data) {
  const auto read_keys = [](ObjectReader& reader, MemoryTraffic& traffic) {
    const Number factor{.least = 0, .most = 10};
    reader.required("moving", traffic.moving, factor);
    reader.required("reducing", traffic.reducing, factor);
    reader.required("reducing_in_switch", traffic.reducing_in_switch, factor);
  };
  return read_constants<MemoryTraffic>(data, "memory_traffic.yaml", read_keys);
}

std::uint32_t memory_thousandths(const MemoryTraffic& traffic, const Cluster& cluster,
                                 Collective collective, const std::string& algorithm,
                                 const GroupShape& group, double bandwidth_gb_per_s) {
  double sent = 0;  // by one GPU, as a multiple of the collective's bytes
  for (const LinkLoad& load : link_loads(cluster, collective, algorithm, group, 1)) {
    if (load.link == LinkClass::gpu) sent += load.share;
    if (load.link == LinkClass::port) sent += load.share / group.ranks_per_node;
  }
  const double memory = cluster.node.device.memory_bandwidth.value.gigabytes_per_second();
  const double part =
      sent * bandwidth_gb_per_s * traffic_of(traffic, collective, algorithm) / memory;
  return static_cast<std::uint32_t>(std::nearbyint(1000 * std::min(part, 1.0)));
}

}  // namespace stepsim::topology
