#include "topology/collective.hpp"

#include "topology/collective_memory_traffic.hpp"
#include "topology/group_cost.hpp"
#include "topology/link_load.hpp"

#include "sim/base/error.hpp"
#include "sim/base/wide_integers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

namespace stepsim::topology {

namespace {

constexpr double picoseconds_per_microsecond = 1e6;

void check_group(const GroupShape& group, Bytes bytes) {
  const bool possible = group.ranks >= 1 && group.nodes >= 1 && group.ranks_per_node >= 1 &&
                        group.ranks >= group.nodes && group.port_sharers >= 1 &&
                        group.leaves >= 1 && (group.nodes == 1 || group.nics_per_node >= 1);
  if (!possible) throw InternalError("a group of ranks whose shape is impossible");
  if (bytes < Bytes(0)) throw InternalError("a collective of a negative number of bytes");
}

/// NCCL's correction of trees is a table over powers of two, and changing algorithm may change the
/// factor: so the time is taken at powers of two, made never to fall, and drawn straight in
/// between.
double time_never_falling(const GroupCost& cost, Bytes bytes) {
  double lower = 0;
  std::int64_t size = 1;
  while (true) {
    lower = std::max(lower, cost.at(Bytes(size)).time_us);
    if (bytes.count() <= size) return lower;
    if (bytes.count() / 2 < size) break;  // the next power of two is beyond
    size *= 2;
  }
  if (size > INT64_MAX / 2) {
    // No next power of two: go on at the rate of the last doubling.
    const double half = cost.at(Bytes(size / 2)).time_us;
    return lower + (lower - half) * (static_cast<double>(bytes.count() - size) /
                                     (static_cast<double>(size) / 2));
  }
  const double upper = std::max(lower, cost.at(Bytes(2 * size)).time_us);
  const double part = static_cast<double>(bytes.count() - size) / static_cast<double>(size);
  return lower + part * (upper - lower);
}

NcclSettings settings_of(const std::string& version) {
  NcclSettings settings;
  settings.version = version;
  return settings;
}

void check_word(const char* what, const std::string& word, const std::vector<std::string>& known) {
  if (word.empty() || std::find(known.begin(), known.end(), word) != known.end()) return;
  std::string expected;
  for (const std::string& one : known) expected += (expected.empty() ? "one of " : ", ") + one;
  throw InputError(Diagnostic{{},
                              std::string("nccl.") + what,
                              "\"" + word + "\" is no " + what + " of NCCL",
                              expected,
                              nearest_choice(word, known)});
}

void check_settings(const NcclSettings& settings) {
  check_word("algorithm", settings.algorithm,
             {"ring", "tree", "nvls", "nvls_tree", "pat", "collnet_direct", "collnet_chain"});
  check_word("protocol", settings.protocol, {"LL", "LL128", "Simple"});
  if (settings.most_channels < 0) throw InternalError("a negative number of channels");
}

Time whole_picoseconds(double microseconds) {
  const double count = std::nearbyint(microseconds * picoseconds_per_microsecond);
  if (!(count >= 0) || count > 9e18) throw RangeError("a collective that takes over 100 days");
  return Time::picoseconds(static_cast<std::int64_t>(count));
}

std::int64_t port_rate(double port_us, double transfer_us) {
  if (!(port_us > 0)) return 0;
  const double part = std::min(1.0, port_us / transfer_us);
  return std::max<std::int64_t>(1, std::llrint(part * full_ports));
}

/// Stretches the transfer to what the slowest ports on its way carry. NCCL's choice stays: it asks
/// for a port's nominal rate.
void hold_to_slow_ports(sim::CollectiveCost& cost, int port_millionths) {
  const std::int64_t most = rate_of_ports(port_millionths);
  if (cost.rate <= most) return;
  const WideSigned work = WideSigned{cost.transfer.count_ps()} * cost.rate;
  const WideSigned slowed = (work + most - 1) / most;
  if (slowed > INT64_MAX) throw RangeError("a collective that takes over 100 days");
  const Time transfer = Time::picoseconds(static_cast<std::int64_t>(slowed));
  cost.slow_part = transfer - cost.transfer;
  cost.transfer = transfer;
  cost.memory_thousandths =
      static_cast<std::uint32_t>(std::int64_t{cost.memory_thousandths} * most / cost.rate);
  cost.rate = most;
}

}  // namespace

double bus_factor(Collective collective, double ranks) {
  switch (collective) {
    case Collective::all_reduce:
      return 2 * (ranks - 1) / ranks;
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::all_to_all:
      return (ranks - 1) / ranks;
    case Collective::broadcast:
    case Collective::send_receive:
      return 1;
  }
  return 1;
}

const char* to_string(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
      return "all_reduce";
    case Collective::all_gather:
      return "all_gather";
    case Collective::reduce_scatter:
      return "reduce_scatter";
    case Collective::broadcast:
      return "broadcast";
    case Collective::all_to_all:
      return "all_to_all";
    case Collective::send_receive:
      return "send_receive";
  }
  return "unknown";
}

std::optional<Collective> collective_named(const std::string& name) {
  for (const Collective one :
       {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
        Collective::broadcast, Collective::all_to_all, Collective::send_receive}) {
    if (name == to_string(one)) return one;
  }
  return std::nullopt;
}

/// A prediction, and what its transfer asks of the ports of a node.
struct Predicted {
  CollectivePrediction prediction;
  double port_us = 0;
};

struct CollectiveModel::Data {
  Predicted predict(Collective collective, Bytes bytes, const GroupShape& group) const;

  Cluster cluster;
  NcclSettings settings;
  UplinkPart uplink_part = UplinkPart::fair;
  nccl::TunerTables tuner;
  nccl::SearchTables search;
  PointToPointTables point_to_point;
  MemoryTraffic memory_traffic;
  std::optional<Calibration> calibration;
};

CollectiveModel::CollectiveModel(const DataDirectory& data, const Cluster& cluster,
                                 NcclSettings settings, CalibrationUse use) {
  check_settings(settings);
  auto loaded = std::make_shared<Data>();
  loaded->cluster = cluster;
  loaded->tuner = nccl::load_tuner_tables(data, settings.version);
  loaded->settings = std::move(settings);
  loaded->search = nccl::load_search_tables(data);
  loaded->point_to_point = load_point_to_point_tables(data);
  loaded->memory_traffic = load_memory_traffic(data);
  if (use == CalibrationUse::calibrated) loaded->calibration = load_calibration(data);
  data_ = std::move(loaded);
}

CollectiveModel::CollectiveModel(const DataDirectory& data, const Cluster& cluster,
                                 const std::string& nccl_version, CalibrationUse use)
    : CollectiveModel(data, cluster, settings_of(nccl_version), use) {}

CollectiveModel CollectiveModel::on(const Cluster& cluster) const {
  auto changed = std::make_shared<Data>(*data_);
  changed->cluster = cluster;
  return CollectiveModel(std::move(changed));
}

CollectiveModel CollectiveModel::with(NcclSettings settings) const {
  check_settings(settings);
  auto changed = std::make_shared<Data>(*data_);
  settings.version = data_->settings.version;
  changed->settings = std::move(settings);
  return CollectiveModel(std::move(changed));
}

CollectiveModel CollectiveModel::uncalibrated() const {
  auto changed = std::make_shared<Data>(*data_);
  changed->calibration.reset();
  return CollectiveModel(std::move(changed));
}

CollectiveModel CollectiveModel::with_whole_uplinks() const {
  auto changed = std::make_shared<Data>(*data_);
  changed->uplink_part = UplinkPart::whole;
  return CollectiveModel(std::move(changed));
}

Predicted CollectiveModel::Data::predict(Collective collective, Bytes bytes,
                                         const GroupShape& group) const {
  check_group(group, bytes);
  Predicted predicted;
  CollectivePrediction& prediction = predicted.prediction;
  prediction.algorithm = "none";
  if (group.ranks == 1 || bytes == Bytes(0)) return predicted;
  const GroupCost cost(cluster, tuner, search, point_to_point,
                       calibration ? &*calibration : nullptr, settings, uplink_part, collective,
                       group);
  const SizedCost here = cost.at(bytes);
  predicted.port_us = cost.port_us(here, bytes);
  prediction.algorithm = here.algorithm;
  prediction.protocol = here.protocol;
  prediction.channels = here.channels;
  prediction.assumed = here.assumed;
  prediction.time_us = time_never_falling(cost, bytes);
  prediction.latency_us = here.latency_us * (prediction.time_us / here.time_us);
  const double gigabytes_per_second_in_bytes_per_us = 1000;
  const double count = static_cast<double>(bytes.count());
  prediction.bandwidth_gb_per_s =
      count / (prediction.time_us - prediction.latency_us) / gigabytes_per_second_in_bytes_per_us;
  prediction.bus_bandwidth_gb_per_s = bus_factor(collective, group.ranks) * count /
                                      prediction.time_us / gigabytes_per_second_in_bytes_per_us;
  return predicted;
}

CollectivePrediction CollectiveModel::predict(Collective collective, Bytes bytes,
                                              const GroupShape& group) const {
  return data_->predict(collective, bytes, group).prediction;
}

sim::CollectiveCost CollectiveModel::cost(Collective collective, Bytes bytes,
                                          const GroupShape& group) const {
  const Predicted predicted = data_->predict(collective, bytes, group);
  const CollectivePrediction& prediction = predicted.prediction;
  sim::CollectiveCost cost;
  cost.algorithm = prediction.algorithm;
  cost.assumed = prediction.assumed;
  if (prediction.algorithm == "none") return cost;
  cost.algorithm += '/' + prediction.protocol;
  cost.latency = whole_picoseconds(prediction.latency_us);
  cost.transfer =
      transfer_time(bytes, Bandwidth::gigabytes_per_second(prediction.bandwidth_gb_per_s));
  cost.sms = static_cast<std::uint32_t>(prediction.channels);
  cost.memory_thousandths =
      memory_thousandths(data_->memory_traffic, data_->cluster, collective, prediction.algorithm,
                         group, prediction.bandwidth_gb_per_s);
  cost.rate = port_rate(predicted.port_us, prediction.time_us - prediction.latency_us);
  hold_to_slow_ports(cost, group.port_millionths);
  return cost;
}

const std::string& CollectiveModel::tables_version() const { return data_->tuner.version; }

std::vector<CollectiveModel::DataFile> CollectiveModel::data_files() const {
  std::vector<DataFile> files = {{data_->tuner.file, data_->tuner.hash},
                                 {data_->search.file, data_->search.hash},
                                 {data_->point_to_point.file, data_->point_to_point.hash},
                                 {data_->memory_traffic.file, data_->memory_traffic.hash}};
  if (data_->calibration) files.push_back({data_->calibration->file, data_->calibration->hash});
  return files;
}

}  // namespace stepsim::topology
