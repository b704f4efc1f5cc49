#include "workloads/attention_cost.hpp"

#include "workloads/p_norm.hpp"

#include <algorithm>
#include <cmath>

namespace stepsim::workloads {

namespace {

constexpr std::int64_t block = 128;

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Blocks of keys that rows of query blocks look at: the sum over one sequence's rows, and the
/// most.
struct Blocks {
  double total = 0;
  double longest = 0;
  double rows = 0;
};

Blocks blocks_of(const Attention& a) {
  const std::int64_t rows = ceil_divide(a.query_length, block);
  const std::int64_t columns = ceil_divide(a.key_length, block);
  // A window of w keys touches one block more than it covers, as queries of a block slide over it.
  const std::int64_t widest =
      a.window > 0 ? std::min(columns, ceil_divide(a.window, block) + 1) : columns;
  Blocks blocks;
  blocks.rows = static_cast<double>(rows);
  blocks.longest = static_cast<double>(widest);
  if (!a.causal) {
    blocks.total = blocks.rows * blocks.longest;
    return blocks;
  }
  // Row i sees the blocks before the first query's and i + 1 of its own, at most `widest`.
  const std::int64_t before = columns > rows ? columns - rows : 0;
  const auto sum_to = [widest](std::int64_t last) {
    const std::int64_t ramp = std::min(last, widest);
    return ramp * (ramp + 1) / 2 + (last - ramp) * widest;
  };
  blocks.total = static_cast<double>(sum_to(before + rows) - sum_to(before));
  return blocks;
}

struct Operands {
  double query_bytes = 0;  // as the output's
  double key_value_bytes = 0;
};

Operands operands_of(const Attention& a) {
  const double row =
      static_cast<double>(a.batch) * static_cast<double>(a.head_dim) * element_bytes(a.format);
  return {row * static_cast<double>(a.heads) * static_cast<double>(a.query_length),
          2 * row * static_cast<double>(a.kv_heads) * static_cast<double>(a.key_length)};
}

}  // namespace

AttentionCoefficients::HeadDim efficiency_of(const AttentionCoefficients& coefficients,
                                             std::int64_t head_dim) {
  const auto& known = coefficients.head_dims;
  for (const auto& entry : known) {
    if (entry.head_dim == head_dim) return entry;
    if (entry.head_dim > head_dim) {
      const double padding = static_cast<double>(head_dim) / static_cast<double>(entry.head_dim);
      return {head_dim, entry.efficiency * padding, false};
    }
  }
  return {head_dim, known.back().efficiency, false};
}

AttentionTime attention_forward_time(const Attention& attention, const AttentionMachine& machine,
                                     const AttentionCoefficients& c, Setting setting) {
  const auto efficiency = efficiency_of(c, attention.head_dim);
  const Blocks blocks = blocks_of(attention);
  const double sms = machine.available_sms;
  const double heads = static_cast<double>(attention.batch) * static_cast<double>(attention.heads);
  const double block_s = 4.0 * block * block * static_cast<double>(attention.head_dim) /
                         (machine.peak_flops_per_s / machine.sms * efficiency.efficiency);
  const double rows = heads * blocks.rows;
  const double turns = std::max(1.0, rows / sms);
  const double whole = std::ceil(rows / sms);
  const double quantised = 1 + c.quantisation * (whole - turns) / turns;
  const double work = std::max(blocks.longest, heads * blocks.total / sms * quantised);

  AttentionTime time;
  time.head_dim_measured = efficiency.measured;
  time.compute_s = work * block_s + turns * c.row_s;
  const Operands operands = operands_of(attention);
  const double bandwidth = machine.memory_bytes_per_s * c.memory_efficiency;
  time.memory_s = (2 * operands.query_bytes + operands.key_value_bytes) / bandwidth;
  time.fixed_s = c.launch_s;
  if (setting == Setting::benchmark)
    time.fixed_s +=
        c.prepare_passes * (operands.query_bytes + operands.key_value_bytes) / bandwidth;
  time.total_s = time.fixed_s + overlapped(time.compute_s, time.memory_s, c.memory_doublings);
  return time;
}

UnfusedAttention unfused(const Attention& a) {
  UnfusedAttention kernels;
  const std::int64_t batch = a.batch * a.heads;
  const Gemm scores{a.query_length, a.key_length, a.head_dim, batch, a.format, Pass::forward};
  const Gemm values{a.query_length, a.head_dim, a.key_length, batch, a.format, Pass::forward};
  const auto count = static_cast<double>(batch) * static_cast<double>(a.query_length) *
                     static_cast<double>(a.key_length);
  const double element = element_bytes(a.format);
  kernels.softmax.kind = StreamingKind::softmax;
  if (!a.backward) {
    kernels.gemms = {scores, values};
    // Scores in, probabilities out; dropout writes its mask (a byte) and the dropped copy.
    kernels.softmax.bytes_read = count * element;
    kernels.softmax.bytes_written = count * (2 * element + 1);
    return kernels;
  }
  Gemm key_gradient = values;
  key_gradient.m = a.key_length;
  key_gradient.k = a.query_length;
  kernels.gemms = {key_gradient, scores, values, key_gradient};  // dV, dP, dQ, dK
  // Through dropout (gradient and mask) and softmax (gradient, probabilities, gradient out).
  kernels.softmax.bytes_read = count * (3 * element + 1);
  kernels.softmax.bytes_written = count * element;
  return kernels;
}

}  // namespace stepsim::workloads
