#include "scenarios/cost_models.hpp"

#include "workloads/kernel_profile.hpp"

#include "sim/base/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace stepsim::scenarios {

namespace {

using Assumptions = std::vector<std::string>;

void add_once(Assumptions& assumptions, std::string text) {
  const bool known = std::find(assumptions.begin(), assumptions.end(), text) != assumptions.end();
  if (!known) assumptions.push_back(std::move(text));
}

template <class Value>
void add_if_assumed(Assumptions& assumptions, const std::string& what,
                    const Sourced<Value>& number) {
  if (number.source.kind != SourceKind::assumed) return;
  add_once(assumptions, fmt::format("{}: {}", what, number.source.note));
}

void add_device(Assumptions& assumptions, const topology::Device& device) {
  const auto name = [&](const char* key) { return fmt::format("{} of {}", key, device.name); };
  add_if_assumed(assumptions, name("streaming multiprocessors"), device.streaming_multiprocessors);
  add_if_assumed(assumptions, name("memory capacity"), device.memory_capacity);
  add_if_assumed(assumptions, name("memory bandwidth"), device.memory_bandwidth);
  add_if_assumed(assumptions, name("L2 cache"), device.l2_cache);
  for (const auto& [format, peak] : device.peak) {
    if (format == topology::MatrixFormat::bf16)
      add_if_assumed(assumptions, name("bf16 peak"), peak);
  }
}

void add_node(Assumptions& assumptions, const topology::Cluster& cluster) {
  const topology::Node& node = cluster.node;
  const auto name = [&](const char* key) { return fmt::format("{} of {}", key, node.name); };
  add_if_assumed(assumptions, name("NVLink bandwidth"), node.nvlink_bandwidth);
  add_if_assumed(assumptions, name("PCIe bandwidth"), node.pcie_bandwidth);
  if (cluster.nodes == 1) return;
  add_if_assumed(assumptions, name("number of NICs"), node.nics);
  add_if_assumed(assumptions, name("NIC bandwidth"), node.nic_bandwidth);
}

// «gemm, attention»: the categories of kernels that rest on numbers nobody measured.
void add_kernels(Assumptions& assumptions, const sim::Job& job, const std::string& device) {
  std::set<std::string> categories;
  for (const sim::KernelCost& kernel : job.kernels) {
    if (kernel.assumed) categories.insert(kernel.category);
  }
  if (categories.empty()) return;
  add_once(assumptions, fmt::format("times of {} kernels on {} were not measured",
                                    fmt::join(categories, ", "), device));
}

void add_collectives(Assumptions& assumptions, const sim::Job& job) {
  std::set<std::string> names;
  for (const auto& row : job.collective_costs) {
    for (std::size_t i = 0; i < row.size() && i < job.collectives.size(); ++i) {
      if (row[i].assumed) names.insert(job.collectives[i].name);
    }
  }
  if (names.empty()) return;
  add_once(assumptions,
           fmt::format("{}: no such group was measured; NCCL's model with the nearest factors",
                       fmt::join(names, ", ")));
}

}  // namespace

CostModels::CostModels(const DataDirectory& data, const Scenario& scenario)
    : data_(data),
      kernels_(data, scenario.cluster.node.device, scenario.software.attention),
      collectives_(data, scenario.cluster, scenario.software.nccl_version) {}

workloads::StepInput CostModels::input(const Scenario& scenario) const {
  return {scenario.model,   scenario.plan, scenario.training, scenario.software,
          scenario.cluster, kernels_,      collectives_};
}

ProfileUse CostModels::use(const char* kind, const std::string& name, const std::string& file,
                           const std::string& hash) const {
  // Relative to the data, so that equal installations print equal results.
  const std::filesystem::path relative =
      std::filesystem::path(file).lexically_relative(data_.root());
  const bool ours = !relative.empty() && *relative.begin() != "..";
  return {kind, name, ours ? relative.generic_string() : file, hash};
}

std::vector<ProfileUse> CostModels::profiles(const Scenario& scenario) const {
  const topology::Node& node = scenario.cluster.node;
  const workloads::KernelProfile& kernels = kernels_.profile();
  std::vector<ProfileUse> uses = {
      use("model", scenario.model.name, scenario.model.source, scenario.model.hash),
      use("device", node.device.name, node.device.file, node.device.hash),
      use("node", node.name, node.file, node.hash)};
  if (!kernels.file.empty())
    uses.push_back(use("kernels", kernels.device, kernels.file, kernels.hash));
  // The tuner's tables stand for all that collectives rest on: the hash is of every file.
  const auto files = collectives_.data_files();
  std::string hashes;
  for (const auto& data : files) hashes += data.hash;
  uses.push_back(
      use("nccl", collectives_.tables_version(), files.front().file, content_hash(hashes)));
  return uses;
}

std::vector<std::string> gather_assumptions(const Scenario& scenario, const workloads::Step& step) {
  Assumptions assumptions;
  for (const std::string& text : scenario.assumptions) add_once(assumptions, text);
  add_device(assumptions, scenario.cluster.node.device);
  add_node(assumptions, scenario.cluster);
  for (const std::string& text : step.assumptions) add_once(assumptions, text);
  add_kernels(assumptions, step.job, scenario.cluster.node.device.name);
  add_collectives(assumptions, step.job);
  return assumptions;
}

}  // namespace stepsim::scenarios
