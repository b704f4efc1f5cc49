#include "workloads/gemm_cost.hpp"

#include "workloads/p_norm.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace stepsim::workloads {

namespace {

constexpr std::array<int, 5> splits{1, 2, 4, 8, 16};
// Time constant of the clock's settling under load: short benchmarks run at boost.
constexpr double sustained_after_s = 1e-3;

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
double clamp01(double value) { return value < 0 ? 0 : (value > 1 ? 1 : value); }

/// What does not depend on the candidate, computed once a multiplication.
struct Shape {
  double a_bytes = 0;  // all batches
  double b_bytes = 0;
  double c_bytes = 0;
  double element = 0;
  double overflow = 0;  // 0: operands stay in L2, 1: every wave reads them again
  double misses = 1;    // share of the traffic that reaches HBM
  double sustained = 1;
  double quantise_s = 0;
};

Shape shape_of(const Gemm& gemm, const GemmMachine& machine, const GemmCoefficients& c,
               Setting setting) {
  const auto m = static_cast<double>(gemm.m);
  const auto n = static_cast<double>(gemm.n);
  const auto k = static_cast<double>(gemm.k);
  const auto batch = static_cast<double>(gemm.batch);
  Shape shape;
  shape.element = element_bytes(gemm.format);
  const double output = gemm.accumulates ? 8 : std::max(2.0, shape.element);
  shape.a_bytes = batch * m * k * shape.element;
  shape.b_bytes = batch * k * n * shape.element;
  shape.c_bytes = batch * m * n * output;
  const double operands = shape.a_bytes + shape.b_bytes;
  if (machine.l2_bytes > 0)
    shape.overflow = clamp01(operands / batch / (machine.l2_bytes * c.l2_share) - 1);
  // Least-recently-used lines survive a loop whole or hardly at all: the change is sharp.
  if (setting == Setting::benchmark && machine.l2_bytes > 0)
    shape.misses =
        clamp01(2 * ((operands + shape.c_bytes) / (machine.l2_bytes * c.warm_share) - 1));
  if (setting == Setting::benchmark)
    shape.quantise_s = c.quantise_start_s + c.quantise_bytes * batch * m * k /
                                                (machine.memory_bytes_per_s * c.memory_efficiency);
  const double ideal_s = 2 * batch * m * n * k / machine.peak_flops_per_s;
  shape.sustained = 1 + c.sustained_slowdown * (ideal_s / (ideal_s + sustained_after_s));
  return shape;
}

/// HBM bytes when waves of tiles, as square as they can be, sweep the output.
double traffic(const Shape& shape, double tiles_m, double tiles_n, Tile tile, double concurrent) {
  double columns = std::sqrt(concurrent * tile.m / tile.n);
  columns = std::min(std::max(columns, 1.0), tiles_n);
  const double rows = std::min(std::max(concurrent / columns, 1.0), tiles_m);
  columns = std::min(std::max(concurrent / rows, 1.0), tiles_n);
  const double a_again = (tiles_n / columns - 1) * shape.overflow;
  const double b_again = (tiles_m / rows - 1) * shape.overflow;
  return (shape.a_bytes * (1 + a_again) + shape.b_bytes * (1 + b_again) + shape.c_bytes) *
         shape.misses;
}

GemmTime candidate(const Gemm& gemm, const GemmMachine& machine, const GemmCoefficients& c,
                   const Shape& shape, Tile tile, int split) {
  const std::int64_t tiles_m = ceil_divide(gemm.m, tile.m);
  const std::int64_t tiles_n = ceil_divide(gemm.n, tile.n);
  // In doubles: exact for any real shape, and no absurd one can overflow.
  const double tiles = static_cast<double>(tiles_m) * static_cast<double>(tiles_n) *
                       static_cast<double>(gemm.batch) * split;
  const double sms = machine.available_sms;
  const auto k = static_cast<double>(ceil_divide(gemm.k, split));
  const double area = static_cast<double>(tile.m) * tile.n;
  const double edge = static_cast<double>(tile.m) + tile.n;
  const double half = area / edge;

  GemmTime time;
  time.tile = tile;
  time.split_k = split;
  const double busy = std::max(1.0, tiles / sms);
  const double whole = std::ceil(tiles / sms);
  time.waves = busy + c.wave_quantisation * (whole - busy);

  const double sm_flops = machine.peak_flops_per_s / machine.sms * c.math_efficiency;
  const double math_s = 2 * area * (k + c.k_fill) * (half + c.tile_half_size) / (half * sm_flops);
  const double feed_s = edge * k * shape.element / c.feed_bytes_per_s_per_sm;
  time.compute_s = time.waves * overlapped(math_s * shape.sustained, feed_s, c.math_feed_doublings);

  time.memory_bytes =
      traffic(shape, static_cast<double>(tiles_m), static_cast<double>(tiles_n), tile, sms);
  time.memory_s = time.memory_bytes / (machine.memory_bytes_per_s * c.memory_efficiency);
  time.fixed_s = c.launch_s + time.waves * c.wave_latency_s + shape.quantise_s;
  if (split > 1) {
    // Partial sums in fp32, written and read through L2.
    const double partial = 8.0 * split * static_cast<double>(gemm.m) * static_cast<double>(gemm.n) *
                           static_cast<double>(gemm.batch);
    time.fixed_s += c.split_k_s + partial / (c.feed_bytes_per_s_per_sm * sms);
  }
  time.total_s = time.fixed_s + overlapped(time.compute_s, time.memory_s, c.memory_doublings);
  return time;
}

}  // namespace

const std::vector<Tile>& common_tiles() {
  static const std::vector<Tile> tiles{
      {256, 128}, {128, 256}, {128, 128}, {256, 64}, {64, 256}, {128, 64}, {64, 128}, {64, 64},
      {128, 32},  {32, 128},  {64, 32},   {32, 64},  {128, 16}, {16, 128}, {64, 16},  {16, 64}};
  return tiles;
}

GemmTime gemm_time_with(const Gemm& gemm, const GemmMachine& machine,
                        const GemmCoefficients& coefficients, Setting setting, Tile tile,
                        int split_k) {
  return candidate(gemm, machine, coefficients, shape_of(gemm, machine, coefficients, setting),
                   tile, split_k);
}

GemmTime gemm_time(const Gemm& gemm, const GemmMachine& machine,
                   const GemmCoefficients& coefficients, Setting setting) {
  const Shape shape = shape_of(gemm, machine, coefficients, setting);
  const std::vector<Tile>& tiles = coefficients.tiles.empty() ? common_tiles() : coefficients.tiles;
  GemmTime best;
  for (const Tile tile : tiles) {
    for (const int split : splits) {
      // A split shorter than one step of the k loop does no work.
      if (split > 1 && gemm.k < 64 * split) break;
      const GemmTime time = candidate(gemm, machine, coefficients, shape, tile, split);
      if (best.total_s <= 0 || time.total_s < best.total_s) best = time;
    }
  }
  return best;
}

}  // namespace stepsim::workloads
