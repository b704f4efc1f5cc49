// Names and paths of a scenario become its model and its node type.

#include "scenarios/resolve_scenario.hpp"
#include "scenarios/scenario_blocks.hpp"

#include "workloads/hf_config.hpp"

#include "topology/import_node.hpp"

#include "sim/base/document_writer.hpp"
#include "sim/base/error.hpp"
#include "sim/base/message_text.hpp"
#include "sim/base/parse_quantity.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace stepsim::scenarios {

namespace {

namespace fs = std::filesystem;

// Paths are relative to the file that has them; those of the command line, to where it is given.
fs::path absolute_path(const DocumentNode& reference) {
  const bool in_file = reference.line > 0;
  const fs::path folder = in_file ? fs::path(reference.where().file).parent_path() : fs::path();
  std::error_code ignored;
  const fs::path path = folder / reference.text;
  const fs::path absolute = fs::absolute(path, ignored);
  return (ignored ? path : absolute).lexically_normal();
}

bool looks_like_a_path(const std::string& text) {
  const std::string extension = fs::path(text).extension().string();
  return text.find('/') != std::string::npos || extension == ".json" || extension == ".yaml" ||
         extension == ".yml" || extension == ".xml";
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_text(const ValueSite& site) {
  std::string text;
  return read_value(site, Text{}, text);
}

// A folder stands for the config.json in it, as Hugging Face's tools take it.
fs::path model_file(const DocumentNode& reference) {
  const fs::path path = absolute_path(reference);
  std::error_code ignored;
  return fs::is_directory(path, ignored) ? path / "config.json" : path;
}

bool is_model_file(const DocumentNode& reference) {
  std::error_code ignored;
  return looks_like_a_path(reference.text) || fs::exists(absolute_path(reference), ignored);
}

void note_unused_keys(const workloads::ModelFile& file, std::vector<std::string>& assumptions) {
  for (const std::string& note : file.notes) assumptions.push_back("model: " + note);
  if (file.ignored.empty()) return;
  std::string keys;
  for (const std::string& key : file.ignored) keys += (keys.empty() ? "" : ", ") + key;
  assumptions.push_back("keys of the model file that were not used: " + keys);
}

void load_named_model(const DataDirectory& data, const ValueSite& site, KeyProblems& problems,
                      Scenario& scenario) {
  const std::string& name = site.node.text;
  const std::vector<std::string> zoo = workloads::zoo_names(data);
  if (contains(zoo, name)) {
    scenario.model = workloads::load_zoo_model(data, name).model;
  } else if (is_model_file(site.node)) {
    const std::string file = model_file(site.node).string();
    scenario.model_reference = quoted_scalar(file);
    workloads::ModelFile read = workloads::load_hf_config(file);
    scenario.model = std::move(read.model);
    note_unused_keys(read, scenario.assumptions);
  } else {
    problems.refuse("model", "there is no model named " + in_quotes(name),
                    "a name of `stepsim list models`, or the path of a Hugging Face config.json",
                    nearest_choice(name, zoo));
  }
}

void read_node_file(const DataDirectory& data, const std::string& file, KeyProblems& problems,
                    topology::Node& node) {
  const Document document = read_document(file, problems.diagnostics());
  node = topology::read_node(data, document.root, "", problems.diagnostics());
  node.file = document.file;
  node.hash = document.hash;
}

void load_named_node(const DataDirectory& data, const ValueSite& site, KeyProblems& problems,
                     Scenario& scenario) {
  const std::string& name = site.node.text;
  const std::vector<std::string> known = topology::node_names(data);
  if (contains(known, name)) {
    scenario.cluster.node = topology::load_node(data, name);
  } else if (fs::path(name).extension() == ".xml") {
    const std::string file = absolute_path(site.node).string();
    scenario.node_reference = quoted_scalar(file);
    topology::NodeImport import = topology::import_nccl_topology(data, file);
    scenario.cluster.node = std::move(import.node);
    for (const std::string& note : import.notes) scenario.assumptions.push_back("node: " + note);
  } else if (looks_like_a_path(name)) {
    const std::string file = absolute_path(site.node).string();
    scenario.node_reference = quoted_scalar(file);
    read_node_file(data, file, problems, scenario.cluster.node);
  } else {
    const bool device = contains(topology::device_names(data), name);
    problems.refuse(site.path,
                    device ? in_quotes(name) + " is a GPU, not a node type"
                           : "there is no node type named " + in_quotes(name),
                    one_of(known), nearest_choice(name, known));
  }
}

template <class Load>
bool without_new_problems(KeyProblems& problems, const std::string& path, Load load) {
  const std::size_t before = problems.diagnostics().count();
  try {
    load();
  } catch (const InputError& error) {
    problems.adopt(path, error);
  }
  return problems.diagnostics().count() == before;
}

}  // namespace

bool resolve_model(const DataDirectory& data, const ScenarioSpec& spec, KeyProblems& problems,
                   Scenario& scenario) {
  if (!spec.model) return false;
  const ValueSite site = problems.site("model");
  scenario.model_reference = *spec.model;
  return without_new_problems(problems, "model", [&] {
    if (site.node.is_map()) {
      scenario.model = workloads::read_model(site.node, "model", workloads::UnknownKeys::refuse,
                                             problems.diagnostics())
                           .model;
      scenario.model.source = scenario.file + ": model";
    } else if (is_text(site)) {
      load_named_model(data, site, problems, scenario);
    }
  });
}

namespace {

bool resolve_node(const DataDirectory& data, const ClusterSpec& spec, KeyProblems& problems,
                  Scenario& scenario) {
  if (!spec.node) return false;
  const ValueSite site = problems.site("cluster.node");
  scenario.node_reference = *spec.node;
  return without_new_problems(problems, "cluster.node", [&] {
    if (site.node.is_map()) {
      scenario.cluster.node =
          topology::read_node(data, site.node, "cluster.node", problems.diagnostics());
      scenario.cluster.node.file = scenario.file;
    } else if (is_text(site)) {
      load_named_node(data, site, problems, scenario);
    }
  });
}

Source set_by(const char* key) {
  return {SourceKind::assumed, std::string("set by ") + key + " of the scenario"};
}

void apply_changes(const ClusterSpec& spec, Scenario& scenario) {
  topology::Node& node = scenario.cluster.node;
  HardwareChanges& changes = scenario.hardware_changes;
  changes = {spec.gpu.memory, spec.gpu.memory_bandwidth, spec.gpu.power_limit_watts,
             spec.fabric.nic, spec.fabric.nics_per_node};
  if (changes.memory) node.device.memory_capacity = {*changes.memory, set_by("cluster.gpu.memory")};
  if (changes.memory_bandwidth) {
    node.device.memory_bandwidth = {*changes.memory_bandwidth,
                                    set_by("cluster.gpu.memory_bandwidth")};
  }
  if (changes.nic) node.nic_bandwidth = {*changes.nic, set_by("cluster.fabric.nic")};
  if (changes.nics_per_node) {
    node.nics = {*changes.nics_per_node, set_by("cluster.fabric.nics_per_node")};
  }
}

// Below these a step takes longer than the clock counts, or NCCL finds no channel: refused here,
// where the key is, instead of there.
void check_changes(const ClusterSpec& spec, const topology::Device& device, KeyProblems& problems) {
  constexpr std::int64_t least_memory_bytes = 1'000'000'000;
  constexpr double least_memory_bandwidth = 1e9;
  constexpr double least_port_bandwidth = 1e9 / 8;
  if (spec.gpu.memory && spec.gpu.memory->count() < least_memory_bytes) {
    problems.refuse("cluster.gpu.memory", "is too little for a GPU", "1 GB or more");
  }
  if (spec.gpu.memory_bandwidth &&
      spec.gpu.memory_bandwidth->bytes_per_second() < least_memory_bandwidth) {
    problems.refuse("cluster.gpu.memory_bandwidth", "is too little for a GPU", "1 GB/s or more");
  }
  const double datasheet_watts = device.power_watts.value;
  if (spec.gpu.power_limit_watts && !(*spec.gpu.power_limit_watts >= datasheet_watts / 4 &&
                                      *spec.gpu.power_limit_watts <= datasheet_watts)) {
    problems.refuse(
        "cluster.gpu.power_limit", "is not a limit that " + device.name + " can have",
        "from a quarter of the data sheet's " + format_number(datasheet_watts) + " W up to it");
  }
  if (spec.fabric.nic && spec.fabric.nic->bytes_per_second() < least_port_bandwidth) {
    problems.refuse("cluster.fabric.nic", "is too slow for a training network", "1 Gb/s or more");
  }
}

// GPUs of whole nodes, nodes that GPUs need, or both as given when they agree.
bool resolve_size(const ClusterSpec& spec, KeyProblems& problems, topology::Cluster& cluster) {
  const int per_node = cluster.node.gpus;
  if (!spec.nodes && !spec.gpus) {
    problems.refuse("cluster.nodes", "is missing", "nodes, or gpus");
    return false;
  }
  cluster.nodes = spec.nodes ? *spec.nodes : (*spec.gpus + per_node - 1) / per_node;
  const std::int64_t room = static_cast<std::int64_t>(cluster.nodes) * per_node;
  if (!spec.gpus && room > ScenarioLimits::gpus) {
    problems.refuse("cluster.nodes",
                    "is " + std::to_string(cluster.nodes) + ": " + std::to_string(room) + " GPUs",
                    "at most " + std::to_string(ScenarioLimits::gpus) + " GPUs");
    return false;
  }
  cluster.gpus = spec.gpus ? *spec.gpus : static_cast<int>(room);
  if (cluster.gpus <= room && cluster.gpus > room - per_node) return true;
  problems.refuse("cluster.gpus",
                  "is " + std::to_string(cluster.gpus) + ", but " + std::to_string(cluster.nodes) +
                      " nodes of " + std::to_string(per_node) + " have room for " +
                      std::to_string(room),
                  "from " + std::to_string(room - per_node + 1) + " to " + std::to_string(room));
  return false;
}

}  // namespace

bool resolve_cluster(const DataDirectory& data, const ClusterSpec& spec, KeyProblems& problems,
                     Scenario& scenario) {
  if (!resolve_node(data, spec, problems, scenario) || !spec.readable) return false;
  check_changes(spec, scenario.cluster.node.device, problems);
  apply_changes(spec, scenario);
  return resolve_size(spec, problems, scenario.cluster) &&
         resolve_fabric(spec.fabric, problems, scenario);
}

}  // namespace stepsim::scenarios
