// The JSON that nccl-tests writes with -J. Numbers and truth values may be strings.

#include "calibrate/nccl_tests_table.hpp"

#include "sim/base/document.hpp"

#include <fmt/format.h>

#include <charconv>

namespace stepsim::calibrate {

namespace {

std::string text_of(const DocumentNode& map, std::string_view key) {
  const DocumentNode* value = map.find(key);
  return value != nullptr && value->is_scalar() ? value->text : "";
}

template <class Number>
std::optional<Number> number_in(const std::string& text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (text.empty() || result.ec != std::errc{} || result.ptr != end) return {};
  return value;
}

template <class Number>
std::optional<Number> required(const DocumentNode& map, const std::string& key,
                               const char* expected, Diagnostics& problems) {
  const std::optional<Number> value = number_in<Number>(text_of(map, key));
  const DocumentNode* node = map.find(key);
  if (!value) {
    problems.add({node != nullptr ? node->where() : map.where(), key,
                  node != nullptr ? "is " + node->describe() : "is missing", expected, ""});
  }
  return value;
}

// The first word that ends in _perf, wherever a command line is kept.
void find_command(const DocumentNode& node, std::string& command) {
  const std::size_t end = node.text.find("_perf");
  if (command.empty() && end != std::string::npos) {
    const std::size_t start = node.text.find_last_of("/ \t", end);
    command = node.text.substr(start == std::string::npos ? 0 : start + 1,
                               end + 5 - (start == std::string::npos ? 0 : start + 1));
  }
  for (const DocumentNode& item : node.items) find_command(item, command);
}

void take_devices(const DocumentNode* devices, RawNcclTests& raw) {
  if (devices == nullptr) return;
  for (const DocumentNode& device : devices->items) {
    if (const auto rank = number_in<int>(text_of(device, "rank"))) raw.ranks.insert(*rank);
    if (const std::string host = text_of(device, "hostname"); !host.empty()) raw.hosts.insert(host);
    if (raw.device.empty()) raw.device = text_of(device, "device_info");
  }
}

void take_timing(const DocumentNode& result, const std::string& key, Bytes bytes,
                 std::optional<NcclTestsTiming>& into, Diagnostics& problems) {
  const DocumentNode* node = result.find(key);
  if (node == nullptr || !node->is_map()) return;  // not every collective works in place
  const std::string time = node->find("time") != nullptr ? "time" : "cpu_time";
  const auto time_us = required<double>(*node, time, "microseconds", problems);
  const auto algorithm = required<double>(*node, "alg_bw", "GB/s", problems);
  const auto bus = required<double>(*node, "bus_bw", "GB/s", problems);
  if (time_us && algorithm && bus) {
    add_nccl_tests_timing({*time_us, *algorithm, *bus}, node->where(), bytes, into, problems);
  }
}

void take_result(const DocumentNode& result, RawNcclTests& raw, Diagnostics& problems) {
  RawNcclTestsRow row;
  const auto bytes = required<std::int64_t>(result, "size", "a number of bytes", problems);
  if (!bytes || *bytes == 0) return;
  if (*bytes < 0) {
    problems.add({result.where(), "size", fmt::format("is {}", *bytes), "a number of bytes", ""});
    return;
  }
  row.row.line = result.line;
  row.row.bytes = Bytes(*bytes);
  row.count = number_in<std::int64_t>(text_of(result, "count")).value_or(0);
  row.type = text_of(result, "type");
  row.redop = text_of(result, "redop");
  row.root = number_in<int>(text_of(result, "root"));
  take_timing(result, "out_of_place", row.row.bytes, row.row.out_of_place, problems);
  take_timing(result, "in_place", row.row.bytes, row.row.in_place, problems);
  if (row.row.out_of_place || row.row.in_place) raw.rows.push_back(std::move(row));
}

}  // namespace

RawNcclTests read_nccl_tests_json(std::string_view text, const std::string& name,
                                  Diagnostics& problems) {
  // What the environment block repeats or misspells is none of our business.
  Diagnostics ignored;
  const Document document = parse_document(text, name, DocumentFormat::json, ignored);
  RawNcclTests raw;
  raw.version = text_of(document.root, "version");
  raw.nccl_version = text_of(document.root, "nccl_version");
  if (const DocumentNode* arguments = document.root.find("args")) {
    find_command(*arguments, raw.command);
  }
  if (const DocumentNode* config = document.root.find("config")) {
    take_devices(config->find("devices"), raw);
  }
  take_devices(document.root.find("ranks"), raw);
  const DocumentNode* results = document.root.find("results");
  if (results == nullptr || !results->is_list()) {
    problems.add({document.root.where(), "results", "is missing",
                  "the list of measurements that nccl-tests -J writes", ""});
    return raw;
  }
  for (const DocumentNode& result : results->items) take_result(result, raw, problems);
  return raw;
}

}  // namespace stepsim::calibrate
