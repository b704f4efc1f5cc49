#pragma once

/// The constants of NCCL's tuner and graph search as data: topology/nccl/VERSION.yaml for the tuner
/// (they change between releases), topology/nccl/graph_search.yaml for the search. Latencies are in
/// microseconds and bandwidths in GB/s (10^9 bytes a second), the units NCCL computes in.

#include "topology/device.hpp"
#include "topology/node.hpp"

#include "sim/base/data_directory.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace stepsim::topology::nccl {

/// In NCCL's own order: the first of equally fast candidates is chosen.
enum class Algorithm { tree, ring, collnet_direct, collnet_chain, nvls, nvls_tree, pat };
constexpr std::size_t algorithm_count = 7;
const char* to_string(Algorithm algorithm);

enum class Protocol { ll, ll128, simple };
constexpr std::size_t protocol_count = 3;
const char* to_string(Protocol protocol);

/// What a message hops over.
enum class Hop { nvlink, pci, network };
constexpr std::size_t hop_count = 3;

constexpr std::size_t architecture_count = 4;

using PerProtocol = std::array<double, protocol_count>;
/// One value for a communicator on one node, on two, on more.
using PerScale = std::array<double, 3>;
using PerArchitecture = std::array<PerScale, architecture_count>;

/// How a release models NVLS bandwidth.
enum class NvlsModel {
  minimum,    // 2.27.7: the smaller of the two graph bandwidths, 5/6 of it
  efficiency  // from 2.28.3: bandwidth inside the node times a measured efficiency
};

struct TunerTables {
  std::string version;
  std::array<PerProtocol, algorithm_count> base_latency_us{};
  std::array<std::array<PerProtocol, algorithm_count>, hop_count> hop_latency_us{};
  PerArchitecture ll_most{};          // of a whole communicator
  PerArchitecture ring_ll128_most{};  // of a channel, as the next three
  PerArchitecture tree_ll128_most{};
  PerArchitecture tree_most{};
  PerArchitecture nvls_tree_most{};
  NvlsModel nvls_model = NvlsModel::efficiency;
  std::array<double, architecture_count> nvls_efficiency{};
  /// Multiplies tree bandwidth by floor(log2(bytes / 64)); the last entry is NVLSTree's alone.
  std::array<std::array<double, 24>, protocol_count> tree_correction{};
  /// Architectures whose NVLSTree all-reduce on x86 is corrected with the same factors.
  std::array<bool, architecture_count> nvls_tree_corrected{};
  std::string file;
  std::string hash;
};

struct SearchTables {
  std::map<int, double> nvlink;  // compute capability -> GB/s of one link
  std::map<int, double> pcie;    // generation -> GB/s of 16 lanes
  /// Speeds a channel may have, descending, by the compute capability from which they hold.
  std::map<int, std::vector<double>> speeds_inside_node;
  std::map<int, std::vector<double>> speeds_between_nodes;
  std::map<int, std::array<int, 2>> nvls_channels;  // capability -> one node, several
  std::map<int, double> thread_block_most;      // compute capability -> GB/s that one block sends
  std::array<double, 3> network_overhead_us{};  // by CpuVendor
  std::string file;
  std::string hash;
};

/// The newest tables that are not newer than `version` («2.27.7»); the oldest there are for a
/// version older than all. Throws InputError when `version` is not digits and points.
TunerTables load_tuner_tables(const DataDirectory& data, const std::string& version);
SearchTables load_search_tables(const DataDirectory& data);

/// The entry of a table keyed by «from which capability or generation on» that applies to `key`;
/// the lowest entry for a key below all.
template <class Value>
const Value& entry_for(const std::map<int, Value>& table, int key) {
  auto after = table.upper_bound(key);
  return after == table.begin() ? after->second : std::prev(after)->second;
}

}  // namespace stepsim::topology::nccl
