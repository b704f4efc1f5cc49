#pragma once

/// The four clocks of a layer and of a model in a regime: training on so many tokens, decoding a
/// batch with a context. Nothing is simulated here: each clock is its work divided by a rate, and
/// every rate is an argument. A layer takes at least as long as its slowest clock.

#include "workloads/host_launch_costs.hpp"
#include "workloads/layer_kernels.hpp"
#include "workloads/model.hpp"

#include "topology/device.hpp"

#include "sim/job.hpp"

#include "sim/base/units.hpp"

#include <array>
#include <cstdint>

namespace stepsim::workloads {

/// Seconds of each clock, as if it ran alone.
struct RegimeClocks {
  std::array<double, sim::clock_count> seconds{};

  double& operator[](sim::Clock clock) { return seconds[static_cast<std::size_t>(clock)]; }
  double operator[](sim::Clock clock) const { return seconds[static_cast<std::size_t>(clock)]; }
  /// The slowest; on ties the first of compute, memory, communication, overhead.
  sim::Clock top() const;
  /// Its time: no overlap can be better.
  double bound_s() const { return (*this)[top()]; }
  RegimeClocks& operator+=(const RegimeClocks& other);
};

/// What the work is divided by.
struct RegimeRates {
  FlopRate compute;
  Bandwidth memory;
  Bandwidth tensor_parallel_link;  // of one GPU, each direction
  Bandwidth data_parallel_link;    // likewise
};
/// Compute and memory of a device in a format. Throws InputError when the device has no such
/// format.
RegimeRates datasheet_rates(const topology::Device& device, topology::MatrixFormat format);

/// Kernels the host launches, and what each costs.
struct Launches {
  double per_layer = 0;
  double outside_layers = 0;  // embedding, head, loss
  double each_s = 0;
  double once_s = 0;  // a step, on top: the launch of a graph
};
/// Counted from the kernel lists: forward and backward of a step on `batch`, or the forward of one
/// decoded token a sequence.
Launches training_launches(const Model& model, const TokenBatch& batch, const KernelStack& stack,
                           LaunchMode mode, const HostCosts& costs);
Launches decode_launches(const Model& model, std::int64_t sequences, const KernelStack& stack,
                         LaunchMode mode, const HostCosts& costs);

struct TrainingRegime {
  std::int64_t tokens = 0;           // of one GPU
  std::int64_t sequence_length = 0;  // 0: tokens are one sequence
  FlopsConvention flops = FlopsConvention::full_attention;
  double element_bytes = 2;             // of weights, activations and gradients
  double weight_passes = 3;             // forward, input gradient, weight gradient
  double activation_bytes = 0;          // HBM traffic of one layer beside its weights
  double outside_activation_bytes = 0;  // of embedding and head
  int tensor_parallel = 1;
  int data_parallel = 1;  // ranks whose gradients are summed, each layer's by itself
};
/// The same with the activation traffic of the kernel lists filled in.
TrainingRegime training_regime(const Model& model, const TokenBatch& batch,
                               const KernelStack& stack);

struct DecodeRegime {
  std::int64_t batch = 1;    // sequences, one new token each
  std::int64_t context = 0;  // tokens each of them looks back at
  double element_bytes = 2;  // of weights and cache
  int tensor_parallel = 1;
};

/// A whole model: every layer one after the other, then what is outside them.
struct RegimeResult {
  RegimeClocks layer;    // of layer 0
  RegimeClocks outside;  // embedding, head and loss
  RegimeClocks model;    // sums
  double step_s = 0;     // Σ bound of each layer, and of what is outside
  double tokens_per_s = 0;
};

/// Training: 3 × forward FLOPs in the convention (6·parameters for six-n); weights read in
/// `weight_passes` passes; 4 all-reduces of tokens·hidden a layer over the tensor-parallel group;
/// the layer's gradients all-reduced over the data-parallel one. Tensor parallelism divides
/// everything else (activations too, as with sequence parallelism).
RegimeClocks training_layer_clocks(const Model& model, std::int64_t layer,
                                   const TrainingRegime& regime, const RegimeRates& rates,
                                   const Launches& launches);
RegimeResult training_clocks(const Model& model, const TrainingRegime& regime,
                             const RegimeRates& rates, const Launches& launches);

/// Decoding: 2 FLOPs a weight and token and attention over the context; weights read once for the
/// batch, the cache once a sequence; 2 all-reduces of batch·hidden a layer.
RegimeClocks decode_layer_clocks(const Model& model, std::int64_t layer, const DecodeRegime& regime,
                                 const RegimeRates& rates, const Launches& launches);
RegimeResult decode_clocks(const Model& model, const DecodeRegime& regime, const RegimeRates& rates,
                           const Launches& launches);

/// Seconds to read every weight of the model once, cut over a tensor-parallel group. The token
/// table counts: at a batch of one it is the only part that need not be read whole.
double weight_read_s(const Model& model, double element_bytes, int tensor_parallel,
                     Bandwidth memory);
/// Batch at which a product with weights is as long computing as reading them: 2·B FLOPs for
/// `element_bytes` a weight.
double compute_bound_batch(const RegimeRates& rates, double element_bytes);

/// A kernel's operations a byte if every operand moves once, and the intensity at which a device
/// turns from memory-bound to compute-bound.
double arithmetic_intensity(const Kernel& kernel);
double ridge_point(const RegimeRates& rates);
/// Clocks of one kernel; `launch_s` for each of its launches.
RegimeClocks kernel_clocks(const Kernel& kernel, const RegimeRates& rates, double launch_s);

/// Keys and values of every layer for one token; for sequences of a context (windows bound what a
/// layer keeps).
double kv_cache_bytes_per_token(const Model& model, double element_bytes);
double kv_cache_bytes(const Model& model, std::int64_t sequences, std::int64_t context,
                      double element_bytes);

/// Bytes a rank sends (and receives) in a ring all-reduce: 2·(n−1)/n of the buffer.
double ring_all_reduce_bytes(double bytes, std::int64_t ranks);
double ring_all_reduce_s(double bytes, std::int64_t ranks, Bandwidth link);
double gradient_bytes(const Model& model, double element_bytes);

/// Attention of one head over `length` tokens: the scores written out, or kept on chip, where only
/// the output and two fp32 statistics a row (maximum and sum) are written.
double attention_scores_bytes(std::int64_t length, double element_bytes);
double attention_on_chip_bytes(std::int64_t length, std::int64_t head_dim, double element_bytes);

/// Depth and width of a GPT of so many parameters by the rule N = 12·L·d² with d = 128·L, L rounded
/// up; one head per 128 channels.
struct GptShape {
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
};
GptShape gpt_shape(double parameters);

/// Memory of training such a model on one GPU with Adam in mixed precision: 16 bytes a parameter,
/// and activations with attention matrices written out.
struct MemoryBudget {
  double states_bytes = 0;
  double activation_bytes = 0;
  double total_bytes() const { return states_bytes + activation_bytes; }
  bool fits(Bytes capacity) const { return total_bytes() <= static_cast<double>(capacity.count()); }
};
MemoryBudget gpt_memory_budget(double parameters, std::int64_t sequence_length,
                               std::int64_t micro_batch);

}  // namespace stepsim::workloads
