#include "scenarios/ablation.hpp"

#include "sim/base/error.hpp"
#include "sim/base/message_text.hpp"

#include <algorithm>

namespace stepsim::scenarios {

namespace {

const Mechanism& find_mechanism(const std::string& name) {
  const auto found = std::find_if(mechanisms().begin(), mechanisms().end(),
                                  [&](const Mechanism& each) { return each.name == name; });
  if (found != mechanisms().end()) return *found;
  std::vector<std::string> names;
  for (const Mechanism& each : mechanisms()) names.push_back(each.name);
  throw InputError(Diagnostic{{},
                              "--without",
                              "there is no mechanism " + in_quotes(name),
                              one_of(names),
                              nearest_choice(name, names)});
}

}  // namespace

const std::vector<Mechanism>& mechanisms() {
  static const std::vector<Mechanism> all = {
      {"coefficients", "factors fitted to steps: kernels take what they take in benchmarks",
       [](Scenario& scenario) { scenario.step_coefficients.reset(); }},
      {"interference", "what kernels lose beside collectives",
       [](Scenario& scenario) { scenario.software.interference = false; }},
      {"recompute", "what activation checkpointing computes again",
       [](Scenario& scenario) {
         scenario.training.activation_checkpointing = workloads::CheckpointKind::none;
       }},
      {"early_stop", "the end of a recomputation at the last tensor that backward needs",
       [](Scenario& scenario) { scenario.training.checkpoint_early_stop = false; }},
      {"launch", "host time of launching kernels, as though all were recorded graphs",
       [](Scenario& scenario) { scenario.software.cuda_graph = true; }},
      {"attention_generation", "older attention kernels: the fastest are taken",
       [](Scenario& scenario) {
         if (scenario.software.attention != workloads::AttentionKernel::unfused)
           scenario.software.attention = workloads::AttentionKernel::cudnn;
       }},
      {"optimizer_form", "optimizers op by op: one kernel is taken",
       [](Scenario& scenario) { scenario.software.fused_optimizer = true; }},
      {"power_limit", "power limits below the data sheet's",
       [](Scenario& scenario) { scenario.hardware_changes.power_limit_watts.reset(); }}};
  return all;
}

void check_mechanism(const std::string& name) { find_mechanism(name); }

void leave_out(const std::string& name, Scenario& scenario) {
  find_mechanism(name).leave_out(scenario);
}

}  // namespace stepsim::scenarios
