// Faults inside a node, and what NCCL was told to choose.

#include "calibrate/nccl_trial.hpp"

#include <fmt/format.h>

namespace stepsim::calibrate {

using topology::Cluster;
using topology::Interconnect;
using topology::NcclSettings;

namespace {

bool uses_nvlink(const Trial& trial) {
  const topology::GroupShape group = trial.group();
  return trial.node().interconnect != Interconnect::pcie && group.one_nvlink_domain &&
         group.ranks_per_node > 1;
}

Cluster without_nvlink(const Trial& trial) {
  Cluster cluster = trial.measured().cluster;
  cluster.node.interconnect = Interconnect::pcie;
  cluster.node.in_switch_reduction = false;
  return cluster;
}

void add_pcie(const Trial& trial, std::vector<Suspect>& suspects) {
  if (!uses_nvlink(trial)) return;
  BestFit<double> best(trial);
  const Cluster plain = without_nvlink(trial);
  best.offer(plain.node.socket_bandwidth.value.gigabytes_per_second(), trial.on(plain));
  // What GPUs get of PCIe depends on the switches and sockets between them, up to their own link.
  for (const double share : {0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0}) {
    Cluster cluster = plain;
    const double rate = share * cluster.node.pcie_bandwidth.value.gigabytes_per_second();
    cluster.node.socket_bandwidth.value = Bandwidth::gigabytes_per_second(rate);
    best.offer(rate, trial.on(cluster));
  }
  if (!best.found()) return;
  suspects.push_back(best.suspect(
      "pcie",
      fmt::format("PCIe instead of NVLink inside the nodes ({:.3g} GB/s between GPUs)",
                  best.parameter()),
      fmt::format("{:.3g} GB/s at the largest size, what PCIe carries", best.plateau()),
      "nvidia-smi topo -m shows NV between the GPUs used, nvidia-smi nvlink -s that links are up; "
      "NCCL_DEBUG=INFO says «via P2P» or «via SHM»; look at NCCL_P2P_DISABLE",
      0.015));
}

void add_fewer_nvlinks(const Trial& trial, std::vector<Suspect>& suspects) {
  const int links = trial.node().nvlink_count.value;
  if (!uses_nvlink(trial) || trial.group().nodes > 1) return;
  BestFit<int> best(trial);
  for (int up = 1; up < links; ++up) {
    Cluster cluster = trial.measured().cluster;
    const double all = cluster.node.nvlink_bandwidth.value.bytes_per_second();
    cluster.node.nvlink_count.value = up;
    cluster.node.nvlink_bandwidth.value = Bandwidth::bytes_per_second(all * up / links);
    best.offer(up, trial.on(cluster));
  }
  if (!best.found()) return;
  suspects.push_back(best.suspect(
      "fewer_nvlinks", fmt::format("{} of {} NVLinks of a GPU are up", best.parameter(), links),
      fmt::format("{:.3g} GB/s at the largest size", best.plateau()),
      "nvidia-smi nvlink -s lists links that are down; nvidia-smi -q shows the fabric's state",
      0.03));
}

}  // namespace

void add_node_suspects(const Trial& trial, std::vector<Suspect>& suspects) {
  add_pcie(trial, suspects);
  add_fewer_nvlinks(trial, suspects);
}

namespace {

void add_nvls_off(const Trial& trial, std::vector<Suspect>& suspects) {
  const NcclSettings& settings = trial.measured().nccl;
  if (!trial.node().in_switch_reduction || settings.nvls == NcclSettings::Nvls::off) return;
  NcclSettings off = settings;
  off.nvls = NcclSettings::Nvls::off;
  BestFit<int> best(trial);
  best.offer(0, trial.with(off));
  suspects.push_back(
      best.suspect("nvls_off", "the NVLink switches do not reduce (NVLS is off)",
                   fmt::format("{:.3g} GB/s at the largest size", best.plateau()),
                   "NCCL_DEBUG=INFO says «NVLS multicast support»; look at NCCL_NVLS_ENABLE, the "
                   "driver, and the fabric manager",
                   0.005));
}

void add_forced_choice(const Trial& trial, std::vector<Suspect>& suspects) {
  const NcclSettings& settings = trial.measured().nccl;
  BestFit<std::string> best(trial);
  for (const char* algorithm : {"ring", "tree"}) {
    NcclSettings forced = settings;
    forced.algorithm = algorithm;
    best.offer(fmt::format("the {} algorithm (NCCL_ALGO)", algorithm), trial.with(forced));
  }
  for (const char* protocol : {"LL", "LL128", "Simple"}) {
    NcclSettings forced = settings;
    forced.protocol = protocol;
    best.offer(fmt::format("the {} protocol (NCCL_PROTO)", protocol), trial.with(forced));
  }
  suspects.push_back(best.suspect(
      "forced_choice", fmt::format("NCCL is held to {}", best.parameter()),
      fmt::format("{:.3g} GB/s at the largest size", best.plateau()),
      "env | grep NCCL; NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=TUNING shows each choice; look for tuner "
      "plug-ins",
      0.03));
}

void add_few_channels(const Trial& trial, std::vector<Suspect>& suspects) {
  BestFit<int> best(trial);
  for (const int most : {1, 2, 4, 8}) {
    NcclSettings limited = trial.measured().nccl;
    limited.most_channels = most;
    best.offer(most, trial.with(limited));
  }
  suspects.push_back(best.suspect(
      "few_channels",
      fmt::format("NCCL uses only {} channel{}", best.parameter(),
                  best.parameter() == 1 ? "" : "s"),
      fmt::format("{:.3g} GB/s at the largest size", best.plateau()),
      "env | grep NCCL; NCCL_DEBUG=INFO says how many «coll channels»; look at NCCL_MAX_CTAS and "
      "NCCL_MAX_NCHANNELS",
      0.03));
}

}  // namespace

void add_choice_suspects(const Trial& trial, std::vector<Suspect>& suspects) {
  using topology::Collective;
  const Collective collective = trial.measured().collective;
  if (collective == Collective::all_to_all || collective == Collective::send_receive) return;
  add_nvls_off(trial, suspects);
  add_forced_choice(trial, suspects);
  add_few_channels(trial, suspects);
}

}  // namespace stepsim::calibrate
