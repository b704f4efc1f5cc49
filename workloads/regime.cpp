#include "workloads/regime.hpp"

#include "sim/base/error.hpp"

#include <algorithm>

namespace stepsim::workloads {

namespace {

double as_double(std::int64_t count) { return static_cast<double>(count); }

double reduction_s(double bytes, int ranks, Bandwidth link) {
  return ranks > 1 ? ring_all_reduce_s(bytes, ranks, link) : 0;
}

/// Forward FLOPs of one token in a layer; six-n counts every parameter as a multiply-add.
double layer_flops(const Model& model, std::int64_t layer, std::int64_t length,
                   FlopsConvention convention) {
  if (convention == FlopsConvention::six_n) return 2 * as_double(layer_parameter_count(model));
  return layer_forward_flops_per_token(model, layer, length, convention);
}

std::int64_t outside_parameters(const Model& model) {
  return parameter_count(model) - model.layers * layer_parameter_count(model);
}

double outside_flops(const Model& model, FlopsConvention convention) {
  if (convention == FlopsConvention::six_n) return 2 * as_double(outside_parameters(model));
  return head_forward_flops_per_token(model);
}

/// Weights of the output head and the final norm: what decoding reads outside the layers.
double head_weights(const Model& model) {
  std::int64_t count = 0;
  for (const Parameter& parameter : head_parameters(model)) count += parameter.count();
  return as_double(count);
}

std::int64_t cached_tokens(const Model& model, std::int64_t layer, std::int64_t context) {
  return std::min(context, model.span(layer).window.value_or(context));
}

/// Adds up layers of equal span only once.
template <class LayerClocks>
RegimeResult add_up(const Model& model, const RegimeClocks& outside, const Launches& launches,
                    LayerClocks&& clocks_of) {
  RegimeResult result;
  result.outside = outside;
  result.outside[sim::Clock::overhead] += launches.once_s;
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    const RegimeClocks clocks = clocks_of(layer);
    if (layer == 0) result.layer = clocks;
    result.model += clocks;
    result.step_s += clocks.bound_s();
  }
  result.model += result.outside;
  result.step_s += result.outside.bound_s();
  return result;
}

}  // namespace

sim::Clock RegimeClocks::top() const {
  const auto slowest = std::max_element(seconds.begin(), seconds.end());
  return static_cast<sim::Clock>(slowest - seconds.begin());
}

RegimeClocks& RegimeClocks::operator+=(const RegimeClocks& other) {
  for (std::size_t i = 0; i < seconds.size(); ++i) seconds[i] += other.seconds[i];
  return *this;
}

RegimeClocks training_layer_clocks(const Model& model, std::int64_t layer,
                                   const TrainingRegime& regime, const RegimeRates& rates,
                                   const Launches& launches) {
  const double tokens = as_double(regime.tokens);
  const double cut = regime.tensor_parallel;
  const std::int64_t length = regime.sequence_length > 0 ? regime.sequence_length : regime.tokens;
  const double weights = regime.element_bytes * as_double(layer_parameter_count(model)) / cut;
  const double activations = regime.element_bytes * tokens * as_double(model.hidden);
  RegimeClocks clocks;
  clocks[sim::Clock::compute] = 3 * tokens * layer_flops(model, layer, length, regime.flops) / cut /
                                rates.compute.flops_per_second();
  clocks[sim::Clock::memory] = (regime.weight_passes * weights + regime.activation_bytes / cut) /
                               rates.memory.bytes_per_second();
  clocks[sim::Clock::communication] =
      4 * reduction_s(activations, regime.tensor_parallel, rates.tensor_parallel_link) +
      reduction_s(weights, regime.data_parallel, rates.data_parallel_link);
  clocks[sim::Clock::overhead] = launches.per_layer * launches.each_s;
  return clocks;
}

RegimeResult training_clocks(const Model& model, const TrainingRegime& regime,
                             const RegimeRates& rates, const Launches& launches) {
  const double cut = regime.tensor_parallel;
  const double weights = regime.element_bytes * as_double(outside_parameters(model)) / cut;
  RegimeClocks outside;
  outside[sim::Clock::compute] = 3 * as_double(regime.tokens) * outside_flops(model, regime.flops) /
                                 cut / rates.compute.flops_per_second();
  outside[sim::Clock::memory] = (regime.weight_passes * regime.element_bytes * head_weights(model) +
                                 regime.outside_activation_bytes) /
                                cut / rates.memory.bytes_per_second();
  outside[sim::Clock::communication] =
      reduction_s(weights, regime.data_parallel, rates.data_parallel_link);
  outside[sim::Clock::overhead] = launches.outside_layers * launches.each_s;
  RegimeResult result = add_up(model, outside, launches, [&](std::int64_t layer) {
    return training_layer_clocks(model, layer, regime, rates, launches);
  });
  result.tokens_per_s = as_double(regime.tokens) / result.step_s;
  return result;
}

RegimeClocks decode_layer_clocks(const Model& model, std::int64_t layer, const DecodeRegime& regime,
                                 const RegimeRates& rates, const Launches& launches) {
  const double batch = as_double(regime.batch);
  const double cut = regime.tensor_parallel;
  const double weights = as_double(layer_parameter_count(model));
  const double attended = as_double(cached_tokens(model, layer, regime.context));
  const double cache = 2 * as_double(model.kv_width()) * regime.element_bytes * attended * batch;
  const double activations = regime.element_bytes * batch * as_double(model.hidden);
  RegimeClocks clocks;
  clocks[sim::Clock::compute] = batch *
                                (2 * weights + 4 * as_double(model.query_width()) * attended) /
                                cut / rates.compute.flops_per_second();
  clocks[sim::Clock::memory] =
      (regime.element_bytes * weights + cache) / cut / rates.memory.bytes_per_second();
  clocks[sim::Clock::communication] =
      2 * reduction_s(activations, regime.tensor_parallel, rates.tensor_parallel_link);
  clocks[sim::Clock::overhead] = launches.per_layer * launches.each_s;
  return clocks;
}

RegimeResult decode_clocks(const Model& model, const DecodeRegime& regime, const RegimeRates& rates,
                           const Launches& launches) {
  const double cut = regime.tensor_parallel;
  RegimeClocks outside;
  outside[sim::Clock::compute] = as_double(regime.batch) * head_forward_flops_per_token(model) /
                                 cut / rates.compute.flops_per_second();
  outside[sim::Clock::memory] =
      regime.element_bytes * head_weights(model) / cut / rates.memory.bytes_per_second();
  outside[sim::Clock::overhead] = launches.outside_layers * launches.each_s;
  RegimeResult result = add_up(model, outside, launches, [&](std::int64_t layer) {
    return decode_layer_clocks(model, layer, regime, rates, launches);
  });
  result.tokens_per_s = as_double(regime.batch) / result.step_s;
  return result;
}

double weight_read_s(const Model& model, double element_bytes, int tensor_parallel,
                     Bandwidth memory) {
  return element_bytes * as_double(parameter_count(model)) / tensor_parallel /
         memory.bytes_per_second();
}

double compute_bound_batch(const RegimeRates& rates, double element_bytes) {
  return ridge_point(rates) * element_bytes / 2;
}

double arithmetic_intensity(const Kernel& kernel) { return flops(kernel) / minimum_bytes(kernel); }

double ridge_point(const RegimeRates& rates) {
  return rates.compute.flops_per_second() / rates.memory.bytes_per_second();
}

RegimeClocks kernel_clocks(const Kernel& kernel, const RegimeRates& rates, double launch_s) {
  RegimeClocks clocks;
  clocks[sim::Clock::compute] = flops(kernel) / rates.compute.flops_per_second();
  clocks[sim::Clock::memory] = minimum_bytes(kernel) / rates.memory.bytes_per_second();
  clocks[sim::Clock::overhead] = launch_s * kernel.launches;
  return clocks;
}

RegimeRates datasheet_rates(const topology::Device& device, topology::MatrixFormat format) {
  const auto peak = device.peak.find(format);
  if (peak == device.peak.end()) {
    Diagnostic diagnostic;
    diagnostic.problem = device.name + " has no matrix products in " + to_string(format);
    throw InputError(std::move(diagnostic));
  }
  RegimeRates rates;
  rates.compute = peak->second.value;
  rates.memory = device.memory_bandwidth.value;
  return rates;
}

}  // namespace stepsim::workloads
