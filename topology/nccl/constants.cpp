#include "topology/nccl/constants.hpp"

#include "sim/base/document.hpp"
#include "sim/base/error.hpp"
#include "sim/base/object_reader.hpp"

#include <algorithm>

namespace stepsim::topology::nccl {

namespace {

constexpr const char* folder = "topology/nccl";

constexpr std::array<const char*, algorithm_count> algorithm_names = {
    "tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"};
constexpr std::array<const char*, protocol_count> protocol_keys = {"ll", "ll128", "simple"};
constexpr std::array<const char*, hop_count> hop_names = {"nvlink", "pci", "network"};
constexpr std::array<const char*, architecture_count> architecture_names = {"volta", "ampere",
                                                                            "hopper", "blackwell"};
constexpr std::array<const char*, 3> cpu_names = {"intel", "amd", "arm"};

/// A list of exactly as many numbers as the array holds.
template <std::size_t Count>
void read_row(ObjectReader& reader, const std::string& key, std::array<double, Count>& row) {
  std::vector<double> values;
  if (!reader.required(key, values, Number{.least = 0})) return;
  if (values.size() != Count) {
    reader.refuse(key, "has " + std::to_string(values.size()) + " numbers",
                  std::to_string(Count) + " numbers");
    return;
  }
  std::copy(values.begin(), values.end(), row.begin());
}

/// A block with one row a name.
template <std::size_t Rows, std::size_t Count>
void read_rows(ObjectReader& parent, const std::string& key,
               const std::array<const char*, Rows>& names,
               std::array<std::array<double, Count>, Rows>& rows) {
  const DocumentNode* block = parent.take_required(key);
  if (block == nullptr) return;
  ObjectReader reader(*block, parent.path_of(key), parent.diagnostics());
  for (std::size_t i = 0; i < Rows; ++i) read_row(reader, names[i], rows[i]);
  reader.finish();
}

template <std::size_t Rows>
void read_numbers(ObjectReader& parent, const std::string& key,
                  const std::array<const char*, Rows>& names, std::array<double, Rows>& numbers) {
  const DocumentNode* block = parent.take_required(key);
  if (block == nullptr) return;
  ObjectReader reader(*block, parent.path_of(key), parent.diagnostics());
  for (std::size_t i = 0; i < Rows; ++i) {
    reader.required(names[i], numbers[i], Number{.least = 0});
  }
  reader.finish();
}

void read_hop_latencies(ObjectReader& parent, TunerTables& tables) {
  const DocumentNode* block = parent.take_required("hop_latency_us");
  if (block == nullptr) return;
  ObjectReader reader(*block, parent.path_of("hop_latency_us"), parent.diagnostics());
  for (std::size_t hop = 0; hop < hop_count; ++hop) {
    read_rows(reader, hop_names[hop], algorithm_names, tables.hop_latency_us[hop]);
  }
  reader.finish();
}

void read_nvls(ObjectReader& parent, TunerTables& tables) {
  const DocumentNode* block = parent.take_required("nvls");
  if (block == nullptr) return;
  ObjectReader reader(*block, parent.path_of("nvls"), parent.diagnostics());
  reader.required(
      "model", tables.nvls_model,
      Choices<NvlsModel>{{"minimum", NvlsModel::minimum}, {"efficiency", NvlsModel::efficiency}});
  read_numbers(reader, "efficiency", architecture_names, tables.nvls_efficiency);
  std::vector<std::string> corrected;
  reader.required("tree_corrected", corrected);
  for (std::size_t i = 0; i < architecture_count; ++i) {
    tables.nvls_tree_corrected[i] =
        std::find(corrected.begin(), corrected.end(), architecture_names[i]) != corrected.end();
  }
  reader.finish();
}

/// A block whose keys are numbers such as compute capabilities: calls `read(key text, number)`.
template <class Read>
void read_by_number(ObjectReader& parent, const std::string& key, Read read) {
  const DocumentNode* block = parent.take_required(key);
  if (block == nullptr) return;
  ObjectReader reader(*block, parent.path_of(key), parent.diagnostics());
  for (const DocumentEntry& entry : block->entries) {
    const ParsedQuantity<std::int64_t> number = parse_integer(entry.key);
    if (number.value && *number.value >= 0 && *number.value < 10'000) {
      read(reader, entry.key, static_cast<int>(*number.value));
    } else {
      reader.refuse(entry.key, "is not a number", "a compute capability or a generation");
    }
  }
  if (block->entries.empty()) parent.refuse(key, "is empty", "at least one entry");
  reader.finish();
}

void read_number_map(ObjectReader& parent, const std::string& key, std::map<int, double>& map) {
  read_by_number(parent, key, [&](ObjectReader& reader, const std::string& text, int number) {
    reader.required(text, map[number], Number{.least = 0});
  });
}

void read_speeds(ObjectReader& parent, const std::string& key,
                 std::map<int, std::vector<double>>& map) {
  read_by_number(parent, key, [&](ObjectReader& reader, const std::string& text, int number) {
    reader.required(text, map[number], Number{.least = 1e-3});
  });
}

void read_nvls_channels(ObjectReader& parent, std::map<int, std::array<int, 2>>& map) {
  read_by_number(parent, "nvls_channels",
                 [&](ObjectReader& reader, const std::string& text, int number) {
                   std::array<double, 2> row{};
                   read_row(reader, text, row);
                   map[number] = {static_cast<int>(row[0]), static_cast<int>(row[1])};
                 });
}

/// «2.27.7» as numbers to compare; empty when it is not digits and points.
std::vector<int> version_numbers(const std::string& version) {
  std::vector<int> numbers;
  std::size_t start = 0;
  while (start <= version.size()) {
    const std::size_t end = std::min(version.find('.', start), version.size());
    const std::string part = version.substr(start, end - start);
    const bool digits = !part.empty() && part.size() < 6 &&
                        part.find_first_not_of("0123456789") == std::string::npos;
    if (!digits) return {};
    numbers.push_back(std::stoi(part));
    start = end + 1;
  }
  return numbers;
}

/// The file to use for `version`, of those there are.
std::string newest_not_newer(const std::vector<std::string>& names, const std::string& version) {
  const std::vector<int> wanted = version_numbers(version);
  if (wanted.empty()) {
    throw InputError(Diagnostic{{},
                                "nccl",
                                "\"" + version + "\" is not a version",
                                "digits and points, such as 2.27.7",
                                {}});
  }
  std::vector<std::pair<std::vector<int>, std::string>> known;
  for (const std::string& name : names) {
    std::vector<int> numbers = version_numbers(name);
    if (!numbers.empty()) known.emplace_back(std::move(numbers), name);
  }
  if (known.empty()) {
    throw InputError(
        Diagnostic{{folder}, {}, "holds no tuner tables", "files such as 2.27.7.yaml", {}});
  }
  std::sort(known.begin(), known.end());
  std::string chosen = known.front().second;
  for (const auto& [numbers, name] : known) {
    if (numbers <= wanted) chosen = name;
  }
  return chosen;
}

}  // namespace

const char* to_string(Algorithm algorithm) {
  return algorithm_names[static_cast<std::size_t>(algorithm)];
}

const char* to_string(Protocol protocol) {
  constexpr std::array<const char*, protocol_count> names = {"LL", "LL128", "Simple"};
  return names[static_cast<std::size_t>(protocol)];
}

TunerTables load_tuner_tables(const DataDirectory& data, const std::string& version) {
  const std::string name = newest_not_newer(data.names(folder, ".yaml"), version);
  const Document document = read_document(data.file(folder, name + ".yaml").string());
  TunerTables tables;
  tables.file = document.file;
  tables.hash = document.hash;
  Diagnostics problems;
  ObjectReader reader(document.root, "", problems);
  std::string source;
  reader.required("version", tables.version);
  reader.required("source", source);
  read_rows(reader, "base_latency_us", algorithm_names, tables.base_latency_us);
  read_hop_latencies(reader, tables);
  read_rows(reader, "ll_most", architecture_names, tables.ll_most);
  read_rows(reader, "ring_ll128_most", architecture_names, tables.ring_ll128_most);
  read_rows(reader, "tree_ll128_most", architecture_names, tables.tree_ll128_most);
  read_rows(reader, "tree_most", architecture_names, tables.tree_most);
  read_rows(reader, "nvls_tree_most", architecture_names, tables.nvls_tree_most);
  read_nvls(reader, tables);
  read_rows(reader, "tree_correction", protocol_keys, tables.tree_correction);
  reader.finish();
  problems.throw_if_any();
  return tables;
}

SearchTables load_search_tables(const DataDirectory& data) {
  const Document document = read_document(data.file(folder, "graph_search.yaml").string());
  SearchTables tables;
  tables.file = document.file;
  tables.hash = document.hash;
  Diagnostics problems;
  ObjectReader reader(document.root, "", problems);
  std::string source;
  reader.required("source", source);
  read_number_map(reader, "nvlink", tables.nvlink);
  read_number_map(reader, "pcie", tables.pcie);
  read_speeds(reader, "speeds_inside_node", tables.speeds_inside_node);
  read_speeds(reader, "speeds_between_nodes", tables.speeds_between_nodes);
  read_nvls_channels(reader, tables.nvls_channels);
  read_number_map(reader, "thread_block_most", tables.thread_block_most);
  read_numbers(reader, "network_overhead_us", cpu_names, tables.network_overhead_us);
  reader.finish();
  problems.throw_if_any();
  return tables;
}

}  // namespace stepsim::topology::nccl
