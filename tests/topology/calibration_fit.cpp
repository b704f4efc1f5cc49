#include "tests/topology/calibration_fit.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <set>

namespace stepsim::topology {

namespace {

/// How strongly neighbouring factors are drawn together, relative to one measured time.
constexpr double smoothness = 0.1;

DataDirectory shipped() { return DataDirectory(STEPSIM_SOURCE_DIRECTORY); }

Cluster cluster_for(const MeasuredGroup& group) {
  Cluster cluster;
  cluster.node = load_node(shipped(), group.node);
  cluster.nodes = group.several_nodes ? group.scale : 1;
  cluster.gpus = cluster.nodes * cluster.node.gpus;
  cluster.fabric = FabricKind::single_switch;
  return cluster;
}

GroupShape shape_for(const MeasuredGroup& group) {
  const Cluster cluster = cluster_for(group);
  const int ranks = group.several_nodes ? cluster.gpus : group.scale;
  std::vector<sim::Rank> members;
  for (int i = 0; i < ranks; ++i) members.push_back({static_cast<std::uint32_t>(i)});
  return group_shape(cluster, members);
}

/// Sizes at which factors may be given, as powers of two.
std::vector<int> knot_exponents(const std::string& protocol) {
  if (protocol == "LL") return {12, 14, 16, 18, 20, 22};
  if (protocol == "LL128") return {18, 20, 22, 24, 26, 28};
  return {10, 12, 14, 16, 18, 20, 22, 23, 24, 25, 26, 27, 29, 31, 33};
}

/// The knots between the smallest and the largest size there are, and these two.
std::vector<Bytes> knots_between(const std::string& protocol, std::int64_t least,
                                 std::int64_t most) {
  std::set<std::int64_t> sizes = {least, most};
  for (const int exponent : knot_exponents(protocol)) {
    const std::int64_t size = std::int64_t{1} << exponent;
    if (size > least && size < most) sizes.insert(size);
  }
  std::vector<Bytes> knots;
  for (const std::int64_t size : sizes) knots.emplace_back(size);
  return knots;
}

/// Solves the normal equations of rows · x = right sides by elimination.
std::vector<double> least_squares(const std::vector<std::vector<double>>& rows,
                                  const std::vector<double>& right) {
  const std::size_t n = rows.front().size();
  std::vector<std::vector<double>> matrix(n, std::vector<double>(n + 1, 0));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) matrix[i][j] += rows[r][i] * rows[r][j];
      matrix[i][n] += rows[r][i] * right[r];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n; ++k) {
      if (k == i) continue;
      const double factor = matrix[k][i] / matrix[i][i];
      for (std::size_t j = i; j <= n; ++j) matrix[k][j] -= factor * matrix[i][j];
    }
  }
  std::vector<double> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = matrix[i][n] / matrix[i][i];
  return x;
}

struct Point {
  std::int64_t bytes;
  double measured;
  double predicted;
};

/// Weights of the factors at one size: the factor with one knot 1 and the others 0.
std::vector<double> weights_at(CalibrationCurve curve, std::int64_t bytes) {
  std::vector<double> weights;
  for (std::size_t i = 0; i < curve.sizes.size(); ++i) {
    std::fill(curve.factors.begin(), curve.factors.end(), 0.0);
    curve.factors[i] = 1;
    weights.push_back(factor_at(curve, Bytes(bytes)));
  }
  return weights;
}

void fit_factors(CalibrationCurve& curve, const std::vector<Point>& points) {
  curve.sizes = knots_between(curve.protocol, points.front().bytes, points.back().bytes);
  const std::size_t count = curve.sizes.size();
  curve.factors.assign(count, 1);
  std::vector<std::vector<double>> rows;
  std::vector<double> right;
  for (const Point& point : points) {
    std::vector<double> row = weights_at(curve, point.bytes);
    for (double& weight : row) weight *= point.predicted / point.measured;
    rows.push_back(std::move(row));
    right.push_back(1);
  }
  for (std::size_t i = 0; i + 1 < count; ++i) {
    std::vector<double> row(count, 0);
    row[i] = -smoothness;
    row[i + 1] = smoothness;
    rows.push_back(std::move(row));
    right.push_back(0);
  }
  curve.factors = least_squares(rows, right);
  for (double& factor : curve.factors) factor = std::round(factor * 1000) / 1000;
}

/// Extra time for extra predicted time at the upper end, from the last two knots.
double slope_at_end(const CalibrationCurve& curve, const Baseline& baseline) {
  const std::size_t last = curve.sizes.size() - 1;
  if (last == 0) return curve.factors[0];
  const double before = baseline.predict(curve.sizes[last - 1].count()).time_us;
  const double end = baseline.predict(curve.sizes[last].count()).time_us;
  const double slope =
      (curve.factors[last] * end - curve.factors[last - 1] * before) / (end - before);
  return std::round(std::clamp(slope, 0.5, 2.0) * 1000) / 1000;
}

std::string size_text(Bytes bytes) { return format_bytes(bytes); }

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", value);
  return text;
}

std::string curve_text(const CalibrationCurve& curve) {
  std::string sizes;
  std::string factors;
  for (std::size_t i = 0; i < curve.sizes.size(); ++i) {
    sizes += (i == 0 ? "" : ", ") + size_text(curve.sizes[i]);
    factors += (i == 0 ? "" : ", ") + number_text(curve.factors[i]);
  }
  std::string text = "      - collective: " + std::string(to_string(curve.collective)) +
                     "\n        scale: " + std::to_string(curve.scale) +
                     "\n        algorithm: " + curve.algorithm +
                     "\n        protocol: " + curve.protocol + "\n";
  if (!curve.tables.empty()) text += "        tables: \"" + curve.tables + "\"\n";
  text += "        sizes: [" + sizes + "]\n        factors: [" + factors +
          "]\n        beyond: " + number_text(curve.beyond) + "\n";
  return text;
}

bool same_numbers(const CalibrationCurve& a, const CalibrationCurve& b) {
  return a.sizes == b.sizes && a.factors == b.factors && a.beyond == b.beyond;
}

struct SystemText {
  const char* fitted_to;  // device of the measurements
  bool several_nodes;
  const char* devices;
  const char* source;
  const char* note;
  /// Node types whose measurements are used; empty: all of the device.
  std::vector<std::string> measured_on = {};
  /// The node types it is for; empty: all with the devices.
  const char* nodes = "";
  /// Only so large messages; beyond, what NCCL predicts comes on top.
  std::int64_t most_bytes = INT64_MAX;
};

/// Curves of a system under each release's tables; those that agree under all lose the release.
std::vector<CalibrationCurve> system_curves(const Measurements& measurements,
                                            const SystemText& system) {
  std::vector<CalibrationCurve> all;
  for (const std::string& tables : fitted_tables()) {
    for (const auto& [group, times] : nearest_release(measurements, tables)) {
      const auto& nodes = system.measured_on;
      if (group.device != system.fitted_to || group.several_nodes != system.several_nodes ||
          (!nodes.empty() && std::find(nodes.begin(), nodes.end(), group.node) == nodes.end())) {
        continue;
      }
      const Baseline baseline(group, tables);
      for (CalibrationCurve& curve : fit_curves(group, times, baseline, [&](std::int64_t bytes) {
             return bytes <= system.most_bytes;
           })) {
        curve.tables = tables;
        if (system.most_bytes != INT64_MAX) curve.beyond = 1;
        all.push_back(std::move(curve));
      }
    }
  }
  const auto kind = [](const CalibrationCurve& curve) {
    return std::make_tuple(curve.collective, curve.scale, curve.algorithm, curve.protocol);
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const auto& a, const auto& b) { return kind(a) < kind(b); });
  std::vector<CalibrationCurve> merged;
  for (std::size_t i = 0; i < all.size();) {
    std::size_t end = i + 1;
    while (end < all.size() && kind(all[end]) == kind(all[i])) ++end;
    const bool agree = end - i == fitted_tables().size() &&
                       std::all_of(all.begin() + static_cast<std::ptrdiff_t>(i),
                                   all.begin() + static_cast<std::ptrdiff_t>(end),
                                   [&](const auto& c) { return same_numbers(c, all[i]); });
    for (std::size_t k = i; k < end; ++k) {
      if (agree && k > i) break;
      merged.push_back(all[k]);
      if (agree) merged.back().tables.clear();
    }
    i = end;
  }
  return merged;
}

constexpr std::int64_t mebibyte = 1 << 20;

const std::vector<SystemText>& system_texts() {
  static const std::vector<SystemText> texts = {
      {"a100-sxm-80gb", false, "[a100-sxm-80gb, a100-sxm-40gb]", "fitted",
       "ai-dynamo/aiconfigurator nccl-tests tables, NCCL 2.27.3; above 512 MiB NetX-lab/Echo, "
       "microsoft/superbenchmark and stas00/ml-engineering"},
      {"a100-sxm-80gb",
       true,
       "[a100-sxm-80gb, a100-sxm-40gb]",
       "fitted",
       "NetX-lab/Echo all-reduce on 2 to 16 nodes of Azure ND A100 v4, 8 HDR ports",
       {"azure-nd-a100-v4"},
       "[azure-nd-a100-v4]"},
      {"a100-sxm-80gb",
       true,
       "[a100-sxm-80gb, a100-sxm-40gb]",
       "fitted",
       "large all-reduces: 2 nodes on Oracle's RoCE (NCCL 2.29.3), 3 nodes over 4 HDR ports "
       "(NVIDIA/nccl-tests issue 119)",
       {"dgx-a100", "hgx-a100-4nic"}},
      {"b200-sxm-180gb", false, "[b200-sxm-180gb]", "fitted",
       "ai-dynamo/aiconfigurator nccl-tests tables, NCCL 2.27.5 and 2.28.9; above 256 MiB "
       "stas00/ml-engineering, NCCL 2.27.7"},
      {"b200-sxm-180gb", true, "[h100-sxm-80gb, h200-sxm-141gb, b200-sxm-180gb]", "fitted",
       "large all-reduces over 400 Gb/s a GPU: awslabs and stas00/ml-engineering, 4 nodes of B200"},
      {"gb200", false, "[gb200]", "fitted",
       "ai-dynamo/aiconfigurator nccl-tests tables, NCCL 2.29.2, 2 and 4 GPUs; 72 GPUs: "
       "coreweave/nccl-tests, NCCL 2.26.2"},
      {"gb200", true, "[gb200]", "fitted",
       "coreweave/nccl-tests, 2 and 20 NVL72 racks, NCCL 2.26.2"},
      {"h100-sxm-80gb", false, "[h100-sxm-80gb, h200-sxm-141gb]", "fitted",
       "ai-dynamo/aiconfigurator nccl-tests tables, NCCL 2.29.2, H100; above 512 MiB "
       "NVIDIA/dgxc-benchmarking, and stas00/ml-engineering on H200"},
      // Last, so that what was measured on a GPU itself comes first.
      {"a100-sxm-80gb",
       true,
       "[a100-sxm-80gb, a100-sxm-40gb, h100-sxm-80gb, h200-sxm-141gb, b200-sxm-180gb, gb200]",
       "assumed",
       "up to 1 MiB as on Azure ND A100 v4 over HDR InfiniBand (NetX-lab/Echo); larger ones take "
       "as "
       "much longer than NCCL's prediction as 1 MiB does",
       {"azure-nd-a100-v4"},
       "",
       mebibyte}};
  return texts;
}

}  // namespace

Baseline::Baseline(const MeasuredGroup& group, const std::string& tables, CalibrationUse use)
    : model_(shipped(), cluster_for(group), tables, use),
      collective_(group.collective),
      group_(shape_for(group)) {}

CollectivePrediction Baseline::predict(std::int64_t bytes) const {
  return model_.predict(collective_, Bytes(bytes), group_);
}

std::vector<CalibrationCurve> fit_curves(const MeasuredGroup& group, const MeasuredTimes& times,
                                         const Baseline& baseline,
                                         const std::function<bool(std::int64_t)>& use) {
  std::map<std::pair<std::string, std::string>, std::vector<Point>> segments;
  for (const auto& [bytes, time] : without_disturbed(times)) {
    if (!use(bytes)) continue;
    const CollectivePrediction prediction = baseline.predict(bytes);
    segments[{prediction.algorithm, prediction.protocol}].push_back(
        {bytes, time, prediction.time_us});
  }
  std::vector<CalibrationCurve> curves;
  for (const auto& [kind, points] : segments) {
    CalibrationCurve curve;
    curve.collective = group.collective;
    curve.scale = group.scale;
    curve.algorithm = kind.first;
    curve.protocol = kind.second;
    fit_factors(curve, points);
    curve.beyond = slope_at_end(curve, baseline);
    curves.push_back(std::move(curve));
  }
  return curves;
}

const std::vector<std::string>& fitted_tables() {
  static const std::vector<std::string> tables = {"2.27.7", "2.28.3", "2.30.7"};
  return tables;
}

Measurements nearest_release(const Measurements& measurements, const std::string& tables) {
  // Versions of one digit count compare as text; 2.27 goes with 2.27.7, all later with the latest.
  const bool first = tables == "2.27.7";
  Measurements nearest;
  for (const auto& [group, times] : measurements) {
    MeasuredGroup kind = group;
    kind.nccl.clear();
    const bool is_first = group.nccl.rfind("2.27", 0) == 0;
    const auto known = nearest.find(kind);
    if (known == nearest.end() || is_first == first) nearest[kind] = times;
  }
  return nearest;
}

std::string calibration_text(const Measurements& measurements) {
  std::string text =
      "# Measured against predicted times of collectives: factors on NCCL's own prediction. "
      "Written\n"
      "# by tests/topology/fit_calibration --write; how, and how far it is off: "
      "docs/collectives.md.\n"
      "# scale: ranks of a group on one node, or nodes of a larger group.\n"
      "systems:\n";
  for (const SystemText& system : system_texts()) {
    const std::string nodes = system.nodes;
    text += "  - devices: " + std::string(system.devices) +
            (nodes.empty() ? "" : "\n    nodes: " + nodes) +
            "\n    several_nodes: " + (system.several_nodes ? "true" : "false") +
            "\n    source: " + system.source + "\n    note: \"" + system.note + "\"\n    curves:\n";
    for (const CalibrationCurve& curve : system_curves(measurements, system)) {
      text += curve_text(curve);
    }
  }
  return text;
}

}  // namespace stepsim::topology
