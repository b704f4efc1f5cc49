// Faults of the wires between nodes.

#include "calibrate/nccl_trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace stepsim::calibrate {

using topology::Cluster;
using topology::FabricKind;

namespace {

// `count` values from `low` to `high`, each the same factor from the next.
std::vector<double> geometric(double low, double high, int count) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) {
    values.push_back(low * std::pow(high / low, static_cast<double>(i) / (count - 1)));
  }
  return values;
}

std::string plateau_text(double gb_per_s) {
  return fmt::format(
      "{:.3g} GB/s at the largest size, and that share of the expected at every "
      "size that fills the wires",
      gb_per_s);
}

Cluster with_ports(const Trial& trial, int ports) {
  Cluster cluster = trial.measured().cluster;
  cluster.node.nics.value = ports;
  return cluster;
}

void add_one_port(const Trial& trial, std::vector<Suspect>& suspects) {
  const int ports = trial.node().nics.value;
  if (ports < 2) return;
  BestFit<int> best(trial);
  best.offer(1, trial.on(with_ports(trial, 1)));
  if (!best.found()) return;
  suspects.push_back(best.suspect(
      "one_port", fmt::format("one network port of {} is used", ports),
      plateau_text(best.plateau()),
      "NCCL_DEBUG=INFO lists the ports after «NET/IB : Using»; look at NCCL_IB_HCA, and at "
      "ibv_devinfo for ports that are down",
      0));
}

void add_fewer_ports(const Trial& trial, std::vector<Suspect>& suspects) {
  const int ports = trial.node().nics.value;
  BestFit<int> best(trial);
  for (int used = 2; used < ports; used *= 2) best.offer(used, trial.on(with_ports(trial, used)));
  if (!best.found()) return;
  suspects.push_back(best.suspect(
      "fewer_ports", fmt::format("{} network ports of {} are used", best.parameter(), ports),
      plateau_text(best.plateau()),
      "NCCL_DEBUG=INFO lists the ports after «NET/IB : Using»; look at NCCL_IB_HCA, and at "
      "ibv_devinfo for ports that are down",
      0.03));
}

void add_no_direct_path(const Trial& trial, std::vector<Suspect>& suspects) {
  BestFit<double> best(trial);
  for (const double share : geometric(0.1, 0.5, 33)) {
    best.offer(share, trial.with_wires_at(share));
    best.offer(share, trial.with_ports_at(share));
  }
  if (!best.found()) return;
  suspects.push_back(best.suspect(
      "no_gpudirect",
      fmt::format("no GPUDirect RDMA, or PCIe ACS is on: ports reach {:.0f} % of their rate, "
                  "because data goes through the CPU",
                  100 * best.parameter()),
      plateau_text(best.plateau()),
      "NCCL_DEBUG=INFO says GDRDMA when it is used; lsmod for nvidia_peermem; lspci -vvv for "
      "«ACSCtl: SrcValid+» on PCIe switches",
      0.015));
}

/// Sockets: one stream of packets through the kernel, and every hop takes longer. How much longer
/// is assumed.
struct Sockets {
  double gb_per_s = 0;  // a node
  double hop_us = 0;
};

void add_sockets(const Trial& trial, std::vector<Suspect>& suspects) {
  const auto nodes = static_cast<unsigned>(trial.group().nodes);
  // The fewest hops any algorithm takes: a tree up and down.
  const double hops = 2.0 * std::bit_width(nodes - 1);
  BestFit<Sockets> best(trial);
  for (const double rate : geometric(0.1, 10, 41)) {
    Cluster cluster = with_ports(trial, 1);
    if (rate >= trial.node().nics.value * cluster.node.nic_bandwidth.value.gigabytes_per_second())
      continue;
    cluster.node.nic_bandwidth.value = Bandwidth::gigabytes_per_second(rate);
    const std::vector<double> wires = trial.on(cluster);
    if (wires.empty()) continue;
    for (const double hop_us : {20.0, 40.0, 80.0}) {
      std::vector<double> times = wires;
      for (double& time : times) time += hops * hop_us;
      best.offer({rate, hop_us}, std::move(times));
    }
  }
  if (!best.found()) return;
  suspects.push_back(best.suspect(
      "sockets",
      fmt::format("TCP sockets instead of RDMA: {:.2g} GB/s a node and about {:.0f} us more a hop",
                  best.parameter().gb_per_s, best.parameter().hop_us),
      fmt::format("{:.3g} GB/s at the largest size, and small messages of some hundred us",
                  best.plateau()),
      "NCCL_DEBUG=INFO says «NET/Socket» (RDMA: «NET/IB», «NET/OFI»); look for the network "
      "plug-in, NCCL_IB_DISABLE and NCCL_NET",
      0.03));
}

void add_slow_node(const Trial& trial, std::vector<Suspect>& suspects) {
  BestFit<double> best(trial);
  for (const double share : geometric(0.45, 0.93, 33)) {
    best.offer(share, trial.with_wires_at(share));
    best.offer(share, trial.with_ports_at(share));
  }
  if (!best.found()) return;
  suspects.push_back(best.suspect(
      "slow_node",
      fmt::format("one slow node, or one port at {:.0f} % of its rate: everybody waits for it",
                  100 * best.parameter()),
      plateau_text(best.plateau()),
      "run pairs of nodes: those without it are as expected; ibstat for a port that negotiated a "
      "lower rate, and its error counters",
      0.02));
}

}  // namespace

void add_port_suspects(const Trial& trial, std::vector<Suspect>& suspects) {
  add_one_port(trial, suspects);
  add_fewer_ports(trial, suspects);
  add_no_direct_path(trial, suspects);
  add_sockets(trial, suspects);
  add_slow_node(trial, suspects);
}

namespace {

void add_oversubscription(const Trial& trial, std::vector<Suspect>& suspects) {
  BestFit<double> best(trial);
  for (const double over : {1.5, 2.0, 3.0, 4.0, 6.0, 8.0}) {
    Cluster cluster = trial.measured().cluster;
    if (over <= cluster.oversubscription) continue;
    cluster.fabric = FabricKind::fat_tree;
    cluster.nodes_per_leaf = 1;
    cluster.oversubscription = over;
    best.offer(over, trial.on(cluster));
  }
  if (!best.found()) return;
  suspects.push_back(best.suspect(
      "oversubscription",
      fmt::format("the nodes hang on different switches whose uplinks are oversubscribed {:.3g}:1, "
                  "or shared with other jobs",
                  best.parameter()),
      plateau_text(best.plateau()),
      "run the same number of nodes below one switch: they are as expected", 0.03));
}

/// From some size on the wires carry less.
struct Knee {
  std::size_t first = 0;  // point at which it has set in
  double before = 1;      // share of the ports' rate
  double after = 1;
};

class KneeSearch {
 public:
  explicit KneeSearch(const Trial& trial) : trial_(trial) {
    for (const double share : geometric(0.02, 1, 40)) {
      shares_.push_back(share);
      times_.push_back(trial.with_wires_at(share));
    }
  }

  BestFit<Knee> best() const {
    BestFit<Knee> best(trial_);
    const std::vector<CurvePoint>& curve = trial_.curve();
    // A knee has two points on either side of it, all of sizes that fill the wires.
    for (std::size_t first = past_small(curve) + 2; first + 2 <= curve.size(); ++first) {
      const std::size_t after = best_share(first, curve.size(), shares_.size());
      const std::size_t before = best_share(0, first, shares_.size());
      constexpr double least_fall = 0.65;
      if (shares_[after] > least_fall * shares_[before]) continue;
      std::vector<double> times(times_[before].begin(),
                                times_[before].begin() + static_cast<std::ptrdiff_t>(first));
      times.insert(times.end(), times_[after].begin() + static_cast<std::ptrdiff_t>(first),
                   times_[after].end());
      best.offer({first, shares_[before], shares_[after]}, std::move(times));
    }
    return best;
  }

 private:
  std::size_t best_share(std::size_t first, std::size_t last, std::size_t count) const {
    std::size_t best = 0;
    double least = fit_error(trial_.curve(), times_[0], first, last);
    for (std::size_t i = 1; i < count; ++i) {
      const double error = fit_error(trial_.curve(), times_[i], first, last);
      if (error < least) {
        least = error;
        best = i;
      }
    }
    return best;
  }

  const Trial& trial_;
  std::vector<double> shares_;
  std::vector<std::vector<double>> times_;
};

std::string size_text(Bytes bytes) {
  const std::int64_t mib = std::int64_t{1} << 20;
  if (bytes.count() % mib == 0) return fmt::format("{} MiB", bytes.count() / mib);
  return fmt::format("{:.3g} MB", static_cast<double>(bytes.count()) * 1e-6);
}

void add_knee(const Trial& trial, std::vector<Suspect>& suspects) {
  const BestFit<Knee> best = KneeSearch(trial).best();
  if (!best.found()) return;
  const Knee& knee = best.parameter();
  suspects.push_back(best.suspect(
      "congestion",
      fmt::format("congestion that sets in from {}: the wires then carry {:.0f} % of what they "
                  "carried before",
                  size_text(trial.curve()[knee.first].bytes), 100 * knee.after / knee.before),
      fmt::format("{:.0f} % of the ports' rate below that size, {:.2g} % from it on",
                  100 * knee.before, 100 * knee.after),
      "counters of dropped and retransmitted packets and of pauses (ethtool -S, switch ports); on "
      "RoCE look at PFC and ECN; run fewer nodes, and other times of day",
      0.05));
}

}  // namespace

void add_congestion_suspects(const Trial& trial, std::vector<Suspect>& suspects) {
  add_oversubscription(trial, suspects);
  add_knee(trial, suspects);
}

}  // namespace stepsim::calibrate
