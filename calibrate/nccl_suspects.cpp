#include "calibrate/nccl_suspects.hpp"

#include "calibrate/nccl_trial.hpp"

#include "sim/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stepsim::calibrate {

using topology::Cluster;
using topology::Collective;
using topology::CollectiveModel;
using topology::Interconnect;

namespace {

void rank(std::vector<Suspect>& suspects) {
  std::stable_sort(suspects.begin(), suspects.end(), [](const Suspect& a, const Suspect& b) {
    return a.error + a.handicap < b.error + b.handicap;
  });
}

Cluster with_more_ports(const Trial& trial, int times) {
  Cluster cluster = trial.measured().cluster;
  cluster.node.nics.value *= times;
  return cluster;
}

void add_faster_ports(const Trial& trial, std::vector<Suspect>& suspects) {
  if (trial.group().nodes == 1) return;
  BestFit<double> best(trial);
  for (const double times : {1.5, 2.0, 4.0}) best.offer(times, trial.with_ports_at(times));
  for (const int times : {2, 4, 8}) best.offer(times, trial.on(with_more_ports(trial, times)));
  suspects.push_back(
      best.suspect("faster_ports",
                   fmt::format("the nodes have {:.3g} times the network bandwidth that {} has",
                               best.parameter(), trial.node().name),
                   fmt::format("{:.3g} GB/s at the largest size", best.plateau()),
                   "count the ports and their rate on a node: ibv_devinfo, or ibstat", 0.02));
}

void add_in_network_reduction(const Trial& trial, std::vector<Suspect>& suspects) {
  const topology::GroupShape group = trial.group();
  if (group.nodes < 3 || trial.measured().collective != Collective::all_reduce) return;
  BestFit<int> best(trial);
  // Switches that reduce let every byte leave a node once, where a ring sends it nearly twice.
  best.offer(0, trial.on(with_more_ports(trial, 2)));
  if (!best.found()) return;
  suspects.push_back(
      best.suspect("in_network_reduction", "the network's switches reduce (SHARP, CollNet)",
                   fmt::format("{:.3g} GB/s at the largest size", best.plateau()),
                   "NCCL_DEBUG=INFO names CollNet; run again with NCCL_COLLNET_ENABLE=0", 0.04));
}

void add_nvlink_suspects(const Trial& trial, std::vector<Suspect>& suspects) {
  Cluster cluster = trial.measured().cluster;
  if (cluster.node.interconnect == Interconnect::nvswitch && !cluster.node.in_switch_reduction) {
    cluster.node.in_switch_reduction = true;
    BestFit<int> best(trial);
    best.offer(0, trial.on(cluster));
    if (best.found())
      suspects.push_back(
          best.suspect("nvls", "NVLink switches reduce (NVLS), which the node type does not have",
                       fmt::format("{:.3g} GB/s at the largest size", best.plateau()),
                       "NCCL_DEBUG=INFO names NVLS; run again with NCCL_NVLS_ENABLE=0", 0.02));
  }
  if (!trial.group().one_nvlink_domain) {
    cluster = trial.measured().cluster;
    cluster.node.nvlink_domain = 0;
    BestFit<int> best(trial);
    best.offer(0, trial.on(cluster));
    if (best.found())
      suspects.push_back(
          best.suspect("nvlink", "NVLink joins all of these GPUs",
                       fmt::format("{:.3g} GB/s at the largest size", best.plateau()),
                       "nvidia-smi topo -m shows NV between them", 0.02));
  }
}

void add_uncalibrated(const Trial& trial, std::vector<Suspect>& suspects) {
  BestFit<int> best(trial);
  best.offer(0, trial.uncalibrated());
  suspects.push_back(best.suspect(
      "better_system",
      "this system reaches what NCCL's own model says; the factors that slow it here were measured "
      "on another system",
      fmt::format("{:.3g} GB/s at the largest size", best.plateau()),
      "a second run of the same size on the same nodes gives the same", 0));
}

}  // namespace

std::vector<double> Trial::on(const Cluster& cluster) const {
  try {
    return predicted_times(model_.on(cluster), cluster, measured_, curve_);
  } catch (const InputError&) {
    return {};
  }
}

std::vector<double> Trial::with_wires_at(double share) const {
  const topology::GroupShape shape = group();
  return times_on(curve_, [&](Bytes bytes) {
    const topology::CollectivePrediction expected =
        model_.predict(measured_.collective, bytes, shape);
    return expected.latency_us + (expected.time_us - expected.latency_us) / share;
  });
}

std::vector<double> Trial::with_ports_at(double share) const {
  Cluster cluster = measured_.cluster;
  Bandwidth& rate = cluster.node.nic_bandwidth.value;
  rate = Bandwidth::bytes_per_second(rate.bytes_per_second() * share);
  return on(cluster);
}

double Trial::plateau(const std::vector<double>& predicted_us) const {
  const double ranks = static_cast<double>(measured_.members.size());
  return topology::bus_factor(measured_.collective, ranks) *
         static_cast<double>(curve_.back().bytes.count()) / (1000 * predicted_us.back());
}

topology::GroupShape lone_group_shape(const Cluster& cluster,
                                      const std::vector<sim::Rank>& members) {
  topology::GroupShape shape = topology::group_shape(cluster, members);
  shape.port_sharers = 1;
  return shape;
}

std::vector<double> predicted_times(const CollectiveModel& model, const Cluster& cluster,
                                    const MeasuredGroup& measured,
                                    const std::vector<CurvePoint>& curve) {
  const topology::GroupShape group = lone_group_shape(cluster, measured.members);
  return times_on(
      curve, [&](Bytes bytes) { return model.predict(measured.collective, bytes, group).time_us; });
}

std::vector<Suspect> slow_suspects(const CollectiveModel& model, const MeasuredGroup& measured,
                                   const std::vector<CurvePoint>& curve) {
  const Trial trial(model, measured, curve);
  std::vector<Suspect> suspects;
  if (trial.group().nodes > 1) {
    add_port_suspects(trial, suspects);
    add_congestion_suspects(trial, suspects);
  }
  add_node_suspects(trial, suspects);
  add_choice_suspects(trial, suspects);
  if (past_small(curve) > 0) suspects.push_back(launch_suspect(model, measured, curve));
  rank(suspects);
  return suspects;
}

std::vector<Suspect> fast_suspects(const CollectiveModel& model, const MeasuredGroup& measured,
                                   const std::vector<CurvePoint>& curve) {
  const Trial trial(model, measured, curve);
  std::vector<Suspect> suspects;
  add_uncalibrated(trial, suspects);
  add_faster_ports(trial, suspects);
  add_in_network_reduction(trial, suspects);
  add_nvlink_suspects(trial, suspects);
  rank(suspects);
  return suspects;
}

Suspect launch_suspect(const CollectiveModel& model, const MeasuredGroup& measured,
                       const std::vector<CurvePoint>& curve) {
  const Trial trial(model, measured, curve);
  const std::vector<double> expected = trial.as_expected();
  std::vector<double> extra;
  const std::size_t past = std::max<std::size_t>(past_small(curve), 1);
  for (std::size_t i = 0; i < past; ++i) extra.push_back(curve[i].measured_us - expected[i]);
  std::sort(extra.begin(), extra.end());
  const double added_us = std::max(0.0, extra[extra.size() / 2]);
  std::vector<double> predicted = expected;
  for (double& time : predicted) time += added_us;
  BestFit<int> best(trial);
  best.offer(0, std::move(predicted));
  return best.suspect(
      "launch", fmt::format("every call takes {:.3g} us more than NCCL itself", added_us),
      "small messages take that long whatever their size; large ones hardly notice",
      "run nccl-tests with -G 1 (CUDA graph) and one process a GPU; look at CPU clocks and binding",
      0.02);
}

}  // namespace stepsim::calibrate
