#pragma once

/// What a collective puts on the links of each kind, and what the group's fair part of them
/// carries. A collective loads the links of a kind evenly: rings run in both ways and rotate over
/// the ports, trees come in pairs, an all-to-all leaves by the port on the receiver's rail.

#include "topology/collective.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace stepsim::topology {

enum class LinkClass {
  gpu,          // out of one GPU to the others of its node
  port,         // out of one node by its ports
  leaf_uplink,  // out of one leaf switch, or rail group, towards the spine
  pod_uplink    // out of one pod
};
const char* to_string(LinkClass link);

struct LinkLoad {
  LinkClass link = LinkClass::port;
  double share = 0;     // bytes through it, one direction, as a multiple of the collective's bytes
  double gb_per_s = 0;  // what the group may use of it; 0 for `gpu`, which the tuner models
};

/// Rate of a collective in the engine (sim::CollectiveCost::rate) that fills the group's part of a
/// node's ports: divides exactly among up to 16 transfers.
inline constexpr std::int64_t full_ports = 720'720;

/// The same of ports that carry only so many millionths of their line rate; at least 1.
std::int64_t rate_of_ports(int millionths);

/// What a group may use of the uplinks it crosses: its fair part, when all groups of its kind
/// cross them at one time, or all of them.
enum class UplinkPart { fair, whole };

/// Links that carry something, from the GPUs outwards. `algorithm` as in CollectivePrediction;
/// `port_gb_per_s` is what one port takes.
std::vector<LinkLoad> link_loads(const Cluster& cluster, Collective collective,
                                 const std::string& algorithm, const GroupShape& group,
                                 double port_gb_per_s, UplinkPart part = UplinkPart::fair);

/// What a collective puts on the uplinks of a leaf (or pod) it crosses, over what it puts on the
/// ports of one node: 1 for a ring, which leaves each leaf once. 0 when it crosses none.
double uplink_ratio(Collective collective, const std::string& algorithm, const GroupShape& group,
                    LinkClass uplink);

}  // namespace stepsim::topology
