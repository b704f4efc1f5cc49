#include "scenarios/cost_models.hpp"

#include "scenarios/profile_use.hpp"

#include "sim/base/object_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
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

// «number of NICs, NIC bandwidth of BOX: a common build»: numbers with one reason stand together.
class AssumedNumbers {
 public:
  template <class Value>
  void add(const char* name, const Sourced<Value>& number) {
    if (number.source.kind != SourceKind::assumed) return;
    std::string& names = names_[number.source.note];
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  // Numbers that hardly matter are worth a word only when a user wrote them.
  template <class Value>
  void add_unsourced(const char* name, const Sourced<Value>& number) {
    if (number.source.note == unsourced_note) add(name, number);
  }

  void say(Assumptions& assumptions, const std::string& owner) const {
    for (const auto& [note, names] : names_) {
      add_once(assumptions, fmt::format("{} of {}: {}", names, owner, note));
    }
  }

 private:
  std::map<std::string, std::string> names_;  // by note
};

void add_node(Assumptions& assumptions, const topology::Cluster& cluster) {
  const topology::Node& node = cluster.node;
  AssumedNumbers numbers;
  numbers.add("NVLink bandwidth", node.nvlink_bandwidth);
  numbers.add("PCIe bandwidth", node.pcie_bandwidth);
  numbers.add_unsourced("socket bandwidth", node.socket_bandwidth);
  if (cluster.nodes > 1) {
    numbers.add("number of NICs", node.nics);
    numbers.add("NIC bandwidth", node.nic_bandwidth);
  }
  numbers.say(assumptions, node.name);
}

// The categories of kernels that rest on numbers nobody measured.
void add_kernels(Assumptions& assumptions, const sim::Job& job, const std::string& device) {
  std::set<std::string> categories;
  for (const sim::KernelCost& kernel : job.kernels) {
    if (kernel.assumed) categories.insert(kernel.category);
  }
  if (categories.empty()) return;
  add_once(assumptions,
           fmt::format("kernels not measured on {}: {}", device, fmt::join(categories, ", ")));
}

// Without speed tables nothing that shares the GPU with a kernel slows it.
void add_sharing(Assumptions& assumptions, const sim::Job& job) {
  const auto slows = [](const sim::KernelCost& kernel) {
    return !kernel.sharing.by_sms_taken.empty() || !kernel.sharing.by_memory_taken.empty();
  };
  if (std::any_of(job.kernels.begin(), job.kernels.end(), slows)) return;
  const auto several = [](const sim::Communicator& group) { return group.members.size() > 1; };
  if (!std::any_of(job.communicators.begin(), job.communicators.end(), several)) return;
  add_once(
      assumptions,
      "collectives take no SMs and no memory bandwidth from kernels beside them, so overlapped "
      "communication is free: real steps are slower");
}

void add_collectives(Assumptions& assumptions, const sim::Job& job) {
  std::set<std::string> names;
  for (const auto& row : job.collective_costs) {
    for (std::size_t i = 0; i < row.size() && i < job.collectives.size(); ++i) {
      if (row[i].assumed) names.insert(job.collectives[i].name);
    }
  }
  if (names.empty()) return;
  add_once(assumptions, fmt::format("{}: no such group measured; NCCL's model, nearest factors",
                                    fmt::join(names, ", ")));
}

// What the speeds of kernels beside collectives rest on, where any kernel has such speeds.
void add_interference(Assumptions& assumptions, const sim::Job& job,
                      const workloads::InterferenceProfile& interference) {
  const auto slows = [&](std::vector<sim::SpeedStep> sim::KernelSharing::*table) {
    return std::any_of(job.kernels.begin(), job.kernels.end(), [&](const sim::KernelCost& kernel) {
      return !(kernel.sharing.*table).empty();
    });
  };
  if (slows(&sim::KernelSharing::by_sms_taken))
    add_if_assumed(assumptions, "interference", interference.sm_contention);
  if (slows(&sim::KernelSharing::by_memory_taken))
    add_if_assumed(assumptions, "interference", interference.memory_contention);
}

// «2.27.7» as its numbers; the scenario's reader lets only digits and points through.
std::vector<std::int64_t> version_numbers(const std::string& version) {
  std::vector<std::int64_t> numbers(1, 0);
  for (const char c : version) {
    if (c == '.') {
      numbers.push_back(0);
    } else if (numbers.back() < std::int64_t{1} << 56) {
      numbers.back() = numbers.back() * 10 + (c - '0');
    }
  }
  return numbers;
}

void add_nccl(Assumptions& assumptions, const Scenario& scenario, const std::string& tables) {
  const std::string& version = scenario.software.nccl.version;
  if (scenario.cluster.gpus == 1 || version == tables) return;
  const bool newer = version_numbers(tables) > version_numbers(version);
  add_once(assumptions,
           fmt::format("NCCL {}: tables of {}, {}", version, tables,
                       newer ? "the oldest known" : "the nearest not newer that is known"));
}

workloads::StepCoefficients step_coefficients(const Scenario& scenario) {
  workloads::StepCoefficients step;
  if (scenario.step_coefficients) step = workloads::values_of(*scenario.step_coefficients);
  const std::optional<double>& limit = scenario.hardware_changes.power_limit_watts;
  if (limit)
    step.clock_share =
        workloads::clock_share_of(*limit, scenario.cluster.node.device.power_watts.value);
  return step;
}

// Whether kernel times are those of benchmarks or of steps.
void add_step_coefficients(Assumptions& assumptions, const Scenario& scenario) {
  if (!scenario.step_coefficients) {
    add_once(assumptions,
             fmt::format("nothing was fitted to steps of {}: kernels take what they take "
                         "alone in a benchmark",
                         scenario.stack));
    return;
  }
  add_once(assumptions,
           fmt::format("kernel times are scaled by what published steps of {} take, fitted to {}",
                       scenario.stack, scenario.step_coefficients->fitted_to));
}

}  // namespace

CostModels::CostModels(const DataDirectory& data, const Scenario& scenario)
    : data_(data),
      kernels_(data, scenario.cluster.node.device, scenario.software.attention,
               step_coefficients(scenario)),
      collectives_(data, scenario.cluster, scenario.software.nccl) {}

workloads::StepInput CostModels::input(const Scenario& scenario) const {
  return {scenario.model,   scenario.plan, scenario.training, scenario.software,
          scenario.cluster, kernels_,      collectives_};
}

std::vector<ProfileUse> CostModels::profiles(const Scenario& scenario) const {
  std::vector<ProfileUse> uses = {model_use(data_, scenario.model),
                                  device_use(data_, scenario.cluster.node.device),
                                  node_use(data_, scenario.cluster.node)};
  add_kernels_use(uses, data_, kernels_.profile());
  add_nccl_uses(uses, data_, collectives_);
  if (scenario.step_coefficients)
    uses.push_back(steps_use(data_, workloads::load_step_coefficients(data_), scenario.stack));
  return uses;
}

std::vector<std::string> CostModels::assumptions(const Scenario& scenario,
                                                 const workloads::Step& step) const {
  Assumptions assumptions;
  // The most important first: what nobody measured, then what is as the data files guess it, the
  // defaults of a file that leaves much open last.
  add_sharing(assumptions, step.job);
  add_kernels(assumptions, step.job, scenario.cluster.node.device.name);
  add_collectives(assumptions, step.job);
  add_interference(assumptions, step.job, kernels_.profile().interference);
  add_step_coefficients(assumptions, scenario);
  add_device(assumptions, scenario.cluster.node.device);
  add_node(assumptions, scenario.cluster);
  for (const std::string& text : step.assumptions) add_once(assumptions, text);
  add_nccl(assumptions, scenario, collectives_.tables_version());
  for (const std::string& text : scenario.assumptions) add_once(assumptions, text);
  return assumptions;
}

}  // namespace stepsim::scenarios
