#pragma once

/// A scenario: one training step to predict, as a file describes it, with every default filled in
/// and every name resolved.

#include "scenarios/scenario_spec.hpp"

#include "workloads/model.hpp"
#include "workloads/plan.hpp"
#include "workloads/step_coefficients.hpp"

#include "topology/cluster.hpp"

#include "sim/base/data_directory.hpp"
#include "sim/base/document.hpp"
#include "sim/base/units.hpp"

#include <optional>
#include <string>
#include <vector>

namespace stepsim::scenarios {

/// A measured step to compare with.
struct Measured {
  std::optional<double> step_time_s;  // converted from whatever was measured
  std::string source;
  MeasuredSpec as_written;
};

/// What a scenario changes of its device and node files; cluster.node has it applied.
struct HardwareChanges {
  std::optional<Bytes> memory;
  std::optional<Bandwidth> memory_bandwidth;
  std::optional<double> power_limit_watts;
  std::optional<Bandwidth> nic;
  std::optional<int> nics_per_node;
};

struct Scenario {
  std::string file;
  workloads::Model model;
  topology::Cluster cluster;
  workloads::Plan plan;
  workloads::Training training;
  workloads::Software software;
  std::optional<Measured> measured;
  workloads::FlopsConvention flops_convention = workloads::FlopsConvention::full_attention;
  /// Name of the software stack, «fsdp-eager»: which step coefficients the kernels take.
  std::string stack;
  std::optional<workloads::StepCoefficientSet> step_coefficients;  // absent: benchmarks alone
  std::vector<std::string> assumptions;  // defaults that matter and that the file left open

  // As the file gave them, paths made absolute: for effective_configuration.
  DocumentNode model_reference;
  DocumentNode node_reference;
  HardwareChanges hardware_changes;
  std::optional<NoiseSpec> noise;              // every key filled in but kernel and step
  std::optional<ReliabilitySpec> reliability;  // every key filled in but rates and interval
  std::vector<SlowPartSpec> slow;  // every entry checked; cluster.slow_ports has its ports

  // The file with its overrides applied: for with_overrides.
  DocumentNode document;
};

/// Reads a scenario file with `overrides` («path=value», as --set takes them) applied. Throws
/// InputError with every problem of the file.
Scenario load_scenario(const DataDirectory& data, const std::string& file,
                       const std::vector<std::string>& overrides);

/// The scenario that a document says, for files that hold several. Throws InputError with every
/// problem of it.
Scenario scenario_of_document(const DataDirectory& data, DocumentNode root);

/// A loaded scenario with more overrides, exactly as though the file had been loaded with them
/// after its own. Throws InputError when the result is no scenario.
Scenario with_overrides(const DataDirectory& data, const Scenario& scenario,
                        const std::vector<std::string>& overrides);

/// The JSON Schema of scenario files, as `stepsim schema` prints it.
std::string scenario_schema(const DataDirectory& data);

/// The effective configuration: every key with its value, as a YAML document that loads to the same
/// scenario, from any folder of this machine.
std::string effective_configuration(const Scenario& scenario);

}  // namespace stepsim::scenarios
