#pragma once

/// What a GEMM model leaves unexplained, near shapes that were measured: a grid of
/// measured/predicted ratios over (m, n, k), interpolated linearly in the logarithm of each size.

#include <cstdint>
#include <vector>

namespace stepsim::workloads {

/// log₂ of a positive integer, linear between powers of two: exact in doubles, hence the same on
/// every machine, and within 0.09 of the true value.
double linear_log2(std::int64_t value);

/// A position between two neighbours of an axis: (1 − weight)·axis[lower] + weight·axis[lower + 1].
struct AxisPosition {
  std::size_t lower = 0;
  double weight = 0;
};
/// Positions outside an axis are those of its nearest end.
AxisPosition position_on(const std::vector<std::int64_t>& axis, std::int64_t value);

struct GemmCorrection {
  /// Rising sizes; an empty axis means «no correction».
  std::vector<std::int64_t> m;
  std::vector<std::int64_t> n;
  std::vector<std::int64_t> k;
  /// 100·(measured/predicted − 1), m slowest and k fastest.
  std::vector<std::int16_t> percent;

  bool empty() const { return percent.empty(); }
  /// measured/predicted to expect at a shape; 1 without a grid.
  double factor(std::int64_t m_size, std::int64_t n_size, std::int64_t k_size) const;
  /// Whether the shape lies inside the grid rather than beyond an end of it.
  bool covers(std::int64_t m_size, std::int64_t n_size, std::int64_t k_size) const;
};

}  // namespace stepsim::workloads
