// Closed forms of bytes and counts that the regimes rest on.

#include "workloads/activation_formulas.hpp"
#include "workloads/regime.hpp"

#include <algorithm>

namespace stepsim::workloads {

namespace {

double as_double(std::int64_t count) { return static_cast<double>(count); }

struct KernelTotals {
  double launches = 0;
  double bytes = 0;
};

KernelTotals total(const std::vector<LaunchedKernel>& kernels) {
  KernelTotals totals;
  for (const LaunchedKernel& launched : kernels) {
    totals.launches += launched.kernel.launches;
    totals.bytes += minimum_bytes(launched.kernel);
  }
  return totals;
}

KernelTotals total(const ModuleKernels& module) {
  const KernelTotals forward = total(module.forward);
  const KernelTotals backward = total(module.backward);
  return {forward.launches + backward.launches, forward.bytes + backward.bytes};
}

void set_launch_cost(Launches& launches, LaunchMode mode, const HostCosts& costs) {
  const bool graph = mode == LaunchMode::graph;
  const Sourced<Time>& each = graph                          ? costs.graph_node
                              : mode == LaunchMode::compiled ? costs.compiled_kernel
                                                             : costs.eager_kernel;
  launches.each_s = each.value.seconds();
  launches.once_s = graph ? costs.graph_launch.value.seconds() : 0;
}

}  // namespace

Launches training_launches(const Model& model, const TokenBatch& batch, const KernelStack& stack,
                           LaunchMode mode, const HostCosts& costs) {
  Launches launches;
  launches.per_layer = total(layer_kernels(model, 0, batch, stack)).launches;
  launches.outside_layers = total(embedding_kernels(model, batch, stack)).launches +
                            total(head_kernels(model, batch, stack)).launches;
  set_launch_cost(launches, mode, costs);
  return launches;
}

Launches decode_launches(const Model& model, std::int64_t sequences, const KernelStack& stack,
                         LaunchMode mode, const HostCosts& costs) {
  const TokenBatch batch{sequences, 1};
  Launches launches;
  launches.per_layer = total(layer_kernels(model, 0, batch, stack).forward).launches;
  launches.outside_layers = total(embedding_kernels(model, batch, stack).forward).launches +
                            total(head_kernels(model, batch, stack).forward).launches;
  set_launch_cost(launches, mode, costs);
  return launches;
}

TrainingRegime training_regime(const Model& model, const TokenBatch& batch,
                               const KernelStack& stack) {
  TrainingRegime regime;
  regime.tokens = batch.tokens();
  regime.sequence_length = batch.length;
  regime.element_bytes = as_double(bytes_of(stack.precision));
  const auto beside_weights = [&](const ModuleKernels& module, std::int64_t weights) {
    const double passes = regime.weight_passes * regime.element_bytes * as_double(weights);
    return std::max(0.0, total(module).bytes - passes);
  };
  std::int64_t head = 0;
  for (const Parameter& parameter : head_parameters(model)) head += parameter.count();
  regime.activation_bytes =
      beside_weights(layer_kernels(model, 0, batch, stack), layer_parameter_count(model));
  regime.outside_activation_bytes = total(embedding_kernels(model, batch, stack)).bytes +
                                    beside_weights(head_kernels(model, batch, stack), head);
  return regime;
}

double kv_cache_bytes_per_token(const Model& model, double element_bytes) {
  return 2 * element_bytes * as_double(model.layers * model.kv_width());
}

double kv_cache_bytes(const Model& model, std::int64_t sequences, std::int64_t context,
                      double element_bytes) {
  double tokens = 0;
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    tokens += as_double(std::min(context, model.span(layer).window.value_or(context)));
  }
  return 2 * element_bytes * as_double(model.kv_width()) * tokens * as_double(sequences);
}

double ring_all_reduce_bytes(double bytes, std::int64_t ranks) {
  return 2 * bytes * as_double(ranks - 1) / as_double(ranks);
}

double ring_all_reduce_s(double bytes, std::int64_t ranks, Bandwidth link) {
  return ring_all_reduce_bytes(bytes, ranks) / link.bytes_per_second();
}

double gradient_bytes(const Model& model, double element_bytes) {
  return element_bytes * as_double(parameter_count(model));
}

double attention_scores_bytes(std::int64_t length, double element_bytes) {
  return element_bytes * as_double(length) * as_double(length);
}

double attention_on_chip_bytes(std::int64_t length, std::int64_t head_dim, double element_bytes) {
  return as_double(length) * (element_bytes * as_double(head_dim) + 2 * 4);
}

GptShape gpt_shape(double parameters) {
  GptShape shape;
  do {
    ++shape.layers;
    shape.hidden = 128 * shape.layers;
  } while (12 * as_double(shape.layers) * as_double(shape.hidden) * as_double(shape.hidden) <
           parameters);
  shape.heads = shape.hidden / 128;
  return shape;
}

MemoryBudget gpt_memory_budget(double parameters, std::int64_t sequence_length,
                               std::int64_t micro_batch) {
  const GptShape shape = gpt_shape(parameters);
  MemoryBudget budget;
  budget.states_bytes = parameters * model_state_bytes_per_parameter(ModelStates::mixed_precision);
  budget.activation_bytes =
      as_double(shape.layers) *
      gpt_block_activation_bytes({sequence_length, micro_batch, shape.hidden, shape.heads},
                                 ActivationSaving::everything);
  return budget;
}

}  // namespace stepsim::workloads
