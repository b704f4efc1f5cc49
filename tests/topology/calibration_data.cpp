#include "tests/topology/calibration_data.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <stdexcept>

namespace stepsim::topology {

namespace {

using Record = std::map<std::string, std::string>;

std::vector<std::string> split_line(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  return cells;
}

std::vector<Record> read_csv(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> header = split_line(line);
  std::vector<Record> records;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = split_line(line);
    Record record;
    for (std::size_t i = 0; i < header.size() && i < cells.size(); ++i)
      record[header[i]] = cells[i];
    records.push_back(std::move(record));
  }
  return records;
}

std::optional<Collective> collective_of(const std::string& name) {
  if (name == "all_reduce") return Collective::all_reduce;
  if (name == "all_gather") return Collective::all_gather;
  if (name == "reduce_scatter") return Collective::reduce_scatter;
  if (name == "all_to_all" || name == "alltoall") return Collective::all_to_all;
  return std::nullopt;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

using Samples = std::map<MeasuredGroup, std::map<std::int64_t, std::vector<double>>>;

void read_single_node(const std::filesystem::path& path, Samples& samples) {
  const std::map<std::string, std::string> nodes = {{"a100-sxm-80gb", "dgx-a100"},
                                                    {"h100-sxm-80gb", "dgx-h100"},
                                                    {"b200-sxm-180gb", "dgx-b200"},
                                                    {"gb200", "gb200-nvl72"}};
  for (Record& row : read_csv(path)) {
    const auto collective = collective_of(row["op"]);
    const bool moves_only =
        collective == Collective::all_gather || collective == Collective::all_to_all;
    // Reductions of int8 are another kernel; what only moves does not care.
    if (!collective || (row["dtype"] != "half" && !moves_only)) continue;
    const MeasuredGroup group{row["gpu"],  nodes.at(row["gpu"]),    false,
                              *collective, std::stoi(row["ranks"]), row["nccl_version"]};
    samples[group][std::stoll(row["size_bytes"])].push_back(std::stod(row["time_us"]));
  }
}

/// Rows of whole 8-GPU nodes that name their GPU, on one node only beyond the sizes of the other
/// table (which has one condition for all).
std::optional<MeasuredGroup> published_group(Record& row, std::int64_t bytes) {
  const std::string source = row["id"].substr(0, row["id"].find('-'));
  const int nodes = std::stoi(row["n_nodes"]);
  const int ranks = std::stoi(row["n_gpus"]);
  const auto collective = collective_of(row["op"]);
  if (!collective || ranks != 8 * nodes || has(row["algo_or_flags"], "NVLS_ENABLE") ||
      has(row["algo_or_flags"], "forced")) {
    return std::nullopt;
  }
  MeasuredGroup group;
  group.several_nodes = nodes > 1;
  group.collective = *collective;
  group.scale = nodes > 1 ? nodes : ranks;
  const std::string& hardware = row["hardware"];
  if (nodes == 1) {
    // The other table ends at 256 MiB for B200; NCCL 2.27.7, the switch's rate on all releases.
    if (source == "stas" && has(hardware, "B200-180GB") && bytes > std::int64_t{1} << 28) {
      group.device = "b200-sxm-180gb";
      group.node = "dgx-b200";
      group.nccl = "2.27.5";
      return group;
    }
    if (bytes <= std::int64_t{1} << 29) return std::nullopt;
    if (source == "stas" && has(hardware, "H200")) {  // NVLink and switch of an H100
      group.device = "h100-sxm-80gb";
      group.node = "dgx-h100";
      group.nccl = "2.29.2";
      return group;
    }
    if (has(hardware, "A100") && (source == "echo" || source == "superbench" || source == "stas")) {
      group.device = "a100-sxm-80gb";
      group.node = "dgx-a100";
      group.nccl = "2.27.3";
      return group;
    }
    if (has(hardware, "H100-80GB-SXM (DGX)") && source == "dgxc") {
      group.device = "h100-sxm-80gb";
      group.node = "dgx-h100";
      group.nccl = "2.29.2";
      return group;
    }
    return std::nullopt;
  }
  if (source == "echo" && bytes >= 1 << 14) {
    group.device = "a100-sxm-80gb";
    group.node = "azure-nd-a100-v4";
    return group;
  }
  // EFA's latency is its own; large messages see the same 400 Gb/s a GPU.
  const bool wide = has(row["inter_link"], "EFAv4 8x 400Gb/s");
  if (wide && bytes >= 1 << 27 && has(hardware, "B200")) {
    group.device = "b200-sxm-180gb";
    group.node = "dgx-b200";
    return group;
  }
  return std::nullopt;
}

void read_published(const std::filesystem::path& path, Samples& samples) {
  for (Record& row : read_csv(path)) {
    if (row["size_bytes"].empty() || row["time_us"].empty() || row["n_nodes"].empty()) continue;
    const std::int64_t bytes = std::stoll(row["size_bytes"]);
    auto group = published_group(row, bytes);
    if (!group) continue;
    samples[*group][bytes].push_back(std::stod(row["time_us"]));
    if (group->device != "b200-sxm-180gb" || group->several_nodes) continue;
    group->nccl = "2.28.9";
    samples[*group][bytes].push_back(std::stod(row["time_us"]));
  }
}

/// All-reduce bus bandwidth of GB200 NVL72 racks, NCCL 2.26.2, from the README of
/// coreweave/nccl-tests.
void add_nvl72(Samples& samples) {
  struct Row {
    int racks;
    double gibibytes;
    double bus_bandwidth;
  };
  const Row rows[] = {{1, 0.5, 586},  {1, 1, 681},   {1, 2, 758},  {1, 4, 839},
                      {1, 8, 835},    {2, 0.5, 494}, {2, 2, 680},  {2, 16, 810},
                      {20, 0.5, 151}, {20, 2, 287},  {20, 16, 406}};
  for (const Row& row : rows) {
    const int ranks = 72 * row.racks;
    const bool several = row.racks > 1;
    const MeasuredGroup group{"gb200",
                              "gb200-nvl72",
                              several,
                              Collective::all_reduce,
                              several ? row.racks : ranks,
                              several ? "" : "2.29.2"};
    const double bytes = row.gibibytes * 1073741824;
    samples[group][static_cast<std::int64_t>(bytes)].push_back(bytes * 2 * (ranks - 1) / ranks /
                                                               (1000 * row.bus_bandwidth));
  }
}

/// Large all-reduces between A100 nodes outside Azure: two nodes on Oracle's RoCE, 8 x 200 Gb/s
/// (NCCL 2.29.3), and three nodes over four HDR ports, 96 GB/s of bus bandwidth at best
/// (NVIDIA/nccl-tests issue 119).
void add_a100_networks(Samples& samples) {
  struct Row {
    const char* node;
    int nodes;
    double gibibytes;
    double time_us;
  };
  const double issue_119_us = 8 * 1073741824.0 * 2 * 23 / 24 / (1000 * 96);
  const Row rows[] = {{"dgx-a100", 2, 1, 10908},
                      {"dgx-a100", 2, 2, 21500.1},
                      {"dgx-a100", 2, 4, 42721.7},
                      {"hgx-a100-4nic", 3, 8, issue_119_us}};
  for (const Row& row : rows) {
    const MeasuredGroup group{"a100-sxm-80gb",        row.node,  true,
                              Collective::all_reduce, row.nodes, ""};
    samples[group][static_cast<std::int64_t>(row.gibibytes * 1073741824)].push_back(row.time_us);
  }
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

/// One switched node of a GPU type that ships: device and node type.
std::optional<std::pair<std::string, std::string>> switched_node(const std::string& hardware) {
  if (has(hardware, "PCIe") || has(hardware, "V100") || has(hardware, "unstated")) return {};
  if (has(hardware, "A100")) return {{"a100-sxm-80gb", "dgx-a100"}};
  if (has(hardware, "H100-80GB-SXM")) return {{"h100-sxm-80gb", "dgx-h100"}};
  if (has(hardware, "H200")) return {{"h200-sxm-141gb", "dgx-h200"}};
  if (has(hardware, "B200-180GB")) return {{"b200-sxm-180gb", "dgx-b200"}};
  return {};
}

std::vector<CheckRow> read_check_rows(const std::filesystem::path& folder) {
  std::vector<CheckRow> rows;
  for (Record& row : read_csv(folder / "published/collectives.csv")) {
    const auto collective = collective_of(row["op"]);
    const auto node = switched_node(row["hardware"]);
    const bool several = row["n_nodes"] != "1" && !row["n_nodes"].empty();
    const bool usual_ports =
        has(row["inter_link"], "8x 400Gb/s") || has(row["inter_link"], "16x 200Gb/s") ||
        has(row["inter_link"], "32x 100Gb/s") || has(row["inter_link"], "8x 200Gb/s");
    if (!collective || !node || row["n_nodes"].empty() || row["size_bytes"].empty() ||
        (several && (!usual_ports || has(row["algo_or_flags"], "forced") ||
                     std::stoi(row["n_gpus"]) != 8 * std::stoi(row["n_nodes"]))) ||
        row["time_us"].empty() || has(row["algo_or_flags"], "NVLS_ENABLE")) {
      continue;
    }
    CheckRow check;
    check.bytes = std::stoll(row["size_bytes"]);
    if (check.bytes < 1 << 20 || published_group(row, check.bytes)) continue;
    check.source = row["id"].substr(0, row["id"].find('-'));
    check.group = {node->first,
                   node->second,
                   several,
                   *collective,
                   std::stoi(row[several ? "n_nodes" : "n_gpus"]),
                   ""};
    check.time_us = std::stod(row["time_us"]);
    rows.push_back(std::move(check));
  }
  return rows;
}

MeasuredTimes without_disturbed(const MeasuredTimes& times) {
  MeasuredTimes result = times;
  for (auto entry = result.rbegin(); entry != result.rend(); ++entry) {
    const auto larger = entry == result.rbegin() ? entry : std::prev(entry);
    entry->second = std::min(entry->second, larger->second);
  }
  return result;
}

Measurements read_measurements(const std::filesystem::path& folder) {
  Samples samples;
  read_single_node(folder / "measurements/nccl_single_node.csv", samples);
  read_published(folder / "published/collectives.csv", samples);
  add_nvl72(samples);
  add_a100_networks(samples);
  Measurements result;
  for (const auto& [group, sizes] : samples) {
    for (const auto& [bytes, times] : sizes) result[group][bytes] = median(times);
  }
  return result;
}

}  // namespace stepsim::topology
