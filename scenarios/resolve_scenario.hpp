#pragma once

/// From what a file says to a scenario: names become models and nodes, open keys get their values,
/// and keys are checked against each other.

#include "scenarios/key_conflicts.hpp"
#include "scenarios/scenario.hpp"
#include "scenarios/scenario_spec.hpp"

#include "sim/base/data_directory.hpp"

#include <string>
#include <vector>

namespace stepsim::scenarios {

/// Problems go to `problems`; the scenario is usable when there are none. Checks between keys are
/// left out where a key could not be read.
Scenario resolve_scenario(const DataDirectory& data, const ScenarioSpec& spec,
                          KeyProblems& problems);

/// The parts, in the order in which they need each other. Each returns whether its part is usable.
bool resolve_model(const DataDirectory& data, const ScenarioSpec& spec, KeyProblems& problems,
                   Scenario& scenario);
bool resolve_cluster(const DataDirectory& data, const ClusterSpec& spec, KeyProblems& problems,
                     Scenario& scenario);
/// What joins the nodes; the node and the size are resolved before.
bool resolve_fabric(const FabricSpec& spec, KeyProblems& problems, Scenario& scenario);
/// After the cluster, whose ranks and nodes it names.
bool resolve_slow(const ClusterSpec& spec, KeyProblems& problems, Scenario& scenario);
/// cluster.noise and reliability, with what they leave open.
bool resolve_noise(const ClusterSpec& spec, KeyProblems& problems, Scenario& scenario);
bool resolve_reliability(const ScenarioSpec& spec, KeyProblems& problems, Scenario& scenario);
bool resolve_degrees(const PlanSpec& spec, KeyProblems& problems, Scenario& scenario);
/// Megatron-LM's degrees, pipeline and overlaps; what depends on the model and on the batch is
/// checked once those are known.
bool resolve_megatron(const PlanSpec& spec, KeyProblems& problems, Scenario& scenario);
bool check_megatron_model(KeyProblems& problems, const Scenario& scenario);
bool check_megatron_schedule(KeyProblems& problems, const Scenario& scenario);
bool resolve_training(const TrainingSpec& spec, KeyProblems& problems, Scenario& scenario);
void resolve_software(const SoftwareSpec& spec, KeyProblems& problems, Scenario& scenario);
void resolve_measured(const MeasuredSpec& spec, KeyProblems& problems, Scenario& scenario);

/// The software stack of a resolved scenario, and the coefficients of its steps on that GPU where
/// some were fitted.
void resolve_stack(const DataDirectory& data, const std::string& stack, Scenario& scenario);
std::string stack_of(const Scenario& scenario);

/// Strategy-specific keys: refused, not ignored, where they make no sense.
void check_strategy_keys(const ScenarioSpec& spec, KeyProblems& problems);

/// Short sentences on the defaults that matter and that the file left open.
std::vector<std::string> open_keys(const ScenarioSpec& spec, const Scenario& scenario);

/// Everything a scenario file can say, of a scenario: the inverse of resolve_scenario.
ScenarioSpec spec_of(const Scenario& scenario);

}  // namespace stepsim::scenarios
