#pragma once

/// What a collective or a point-to-point message costs on a cluster: NCCL's own choice of algorithm
/// and protocol and its own prediction of latency and bandwidth (topology/nccl/), times a
/// calibration factor of the system where one has been measured, and never faster than the wires
/// between nodes carry the bytes. docs/collectives.md explains the model with worked numbers.

#include "topology/cluster.hpp"

#include "sim/job.hpp"

#include "sim/base/units.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stepsim::topology {

enum class Collective {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  all_to_all,
  send_receive,
};
const char* to_string(Collective collective);
/// The one that to_string calls so; none for another name.
std::optional<Collective> collective_named(const std::string& name);

/// Bus bandwidth over algorithm bandwidth, as nccl-tests counts it.
double bus_factor(Collective collective, double ranks);

struct CollectivePrediction {
  std::string algorithm;  // «ring», «tree», «nvls», «nvls_tree», «pat», «collnet_direct»,
                          // «collnet_chain», «point_to_point», «none»
  std::string protocol;  // «LL», «LL128», «Simple»; empty when nothing moves
  int channels = 0;      // thread blocks held on each member: SMs taken from compute
  double latency_us = 0;
  double bandwidth_gb_per_s = 0;      // algorithm bandwidth: bytes / transfer time
  double time_us = 0;                 // latency + bytes / bandwidth
  double bus_bandwidth_gb_per_s = 0;  // time_us restated as nccl-tests' busbw
  bool assumed = false;               // rests on a number nobody measured for such a group
};

/// What a user may set of NCCL, as NCCL_ALGO, NCCL_PROTO, NCCL_MAX_CTAS, NCCL_NVLS_ENABLE and
/// NCCL_COLLNET_ENABLE do.
struct NcclSettings {
  /// Such as «2.27.7»: takes the newest tables that are not newer.
  std::string version = "2.27.7";
  /// Only this algorithm («ring», «tree», «nvls», «nvls_tree», «pat», «collnet_direct»,
  /// «collnet_chain») or protocol («LL», «LL128», «Simple»), for the collectives that have it; the
  /// others choose as ever. Empty: NCCL chooses.
  std::string algorithm;
  std::string protocol;
  int most_channels = 0;  // thread blocks of a collective at most; 0: no limit
  enum class Nvls { on, off } nvls = Nvls::on;
  /// Whether network switches reduce (SHARP, NCCL_COLLNET_ENABLE): off by default, as in NCCL.
  enum class Sharp { off, on } sharp = Sharp::off;
};

/// Whether factors fitted to measurements are applied.
enum class CalibrationUse { calibrated, nccl_alone };

class CollectiveModel {
 public:
  /// Throws InputError when a setting is no version, algorithm or protocol, or a data file is
  /// missing or wrong.
  CollectiveModel(const DataDirectory& data, const Cluster& cluster, NcclSettings settings,
                  CalibrationUse use = CalibrationUse::calibrated);
  /// NCCL of a version, otherwise left alone.
  CollectiveModel(const DataDirectory& data, const Cluster& cluster,
                  const std::string& nccl_version, CalibrationUse use = CalibrationUse::calibrated);

  /// The same tables and factors for something else, without reading the files again: what-ifs are
  /// many. The version stays.
  CollectiveModel on(const Cluster& cluster) const;
  CollectiveModel with(NcclSettings settings) const;
  CollectiveModel uncalibrated() const;
  /// Costs as though a group had the uplinks of its leaves and pods for itself, for an engine that
  /// shares them (sim::Job::links). Otherwise a group has its fair part, as though all groups of
  /// its kind crossed them at one time.
  CollectiveModel with_whole_uplinks() const;

  /// bytes are counted as nccl-tests does: the full gathered or scattered buffer; the whole send
  /// buffer of a rank for all-to-all; the message for send_receive (whose group is its two ranks).
  /// A group of one rank, or no bytes, costs nothing. Never falls as bytes grow. Throws
  /// InternalError for negative bytes or a group that is none.
  CollectivePrediction predict(Collective collective, Bytes bytes, const GroupShape& group) const;
  /// The same as what the engine takes: whole picoseconds, with the SMs it holds and its part of
  /// the memory's bandwidth while it transfers. Where the group passes slow ports, its transfer is
  /// stretched to what they carry.
  sim::CollectiveCost cost(Collective collective, Bytes bytes, const GroupShape& group) const;

  /// Version of the tuner tables in use.
  const std::string& tables_version() const;
  /// Data files that predictions rest on, each with the fingerprint of its bytes.
  struct DataFile {
    std::string file;
    std::string hash;
  };
  std::vector<DataFile> data_files() const;

 private:
  struct Data;
  explicit CollectiveModel(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  std::shared_ptr<const Data> data_;
};

}  // namespace stepsim::topology
