#pragma once

/// Measured times of collectives, read from tables of other people's measurements.

#include "topology/collective.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace stepsim::topology {

/// One kind of group whose times were measured.
struct MeasuredGroup {
  std::string device;
  std::string node;  // node type that stands for it
  bool several_nodes = false;
  Collective collective = Collective::all_reduce;
  int scale = 8;  // ranks on one node, or nodes
  /// Which release was measured; empty when nobody says. Tables of another release use it only
  /// when there is no nearer one.
  std::string nccl;
  auto operator<=>(const MeasuredGroup&) const = default;
};

/// Median time by size in bytes.
using MeasuredTimes = std::map<std::int64_t, double>;
using Measurements = std::map<MeasuredGroup, MeasuredTimes>;

/// Times that never fall as bytes grow: a size that took longer than a larger one was disturbed,
/// and counts as fast as that one.
MeasuredTimes without_disturbed(const MeasuredTimes& times);

/// measurements/nccl_single_node.csv and published/collectives.csv under `folder`, and the
/// published NVL72 figures.
Measurements read_measurements(const std::filesystem::path& folder);

/// Published rows that the fit does not use: the same kinds of node, measured by others.
struct CheckRow {
  std::string source;
  MeasuredGroup group;
  std::int64_t bytes = 0;
  double time_us = 0;
};
std::vector<CheckRow> read_check_rows(const std::filesystem::path& folder);

}  // namespace stepsim::topology
