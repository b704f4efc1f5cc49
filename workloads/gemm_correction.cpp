#include "workloads/gemm_correction.hpp"

#include <algorithm>
#include <bit>

namespace stepsim::workloads {

double linear_log2(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  const int exponent = static_cast<int>(std::bit_width(bits)) - 1;
  const auto power = static_cast<double>(std::uint64_t{1} << exponent);
  return exponent + (static_cast<double>(value) / power - 1);
}

AxisPosition position_on(const std::vector<std::int64_t>& axis, std::int64_t value) {
  if (axis.size() < 2 || value <= axis.front()) return {};
  if (value >= axis.back()) return {axis.size() - 2, 1};
  const auto upper = std::upper_bound(axis.begin(), axis.end(), value);
  const auto lower = static_cast<std::size_t>(upper - axis.begin()) - 1;
  const double from = linear_log2(axis[lower]);
  const double to = linear_log2(axis[lower + 1]);
  return {lower, (linear_log2(value) - from) / (to - from)};
}

double GemmCorrection::factor(std::int64_t m_size, std::int64_t n_size, std::int64_t k_size) const {
  if (empty()) return 1;
  const AxisPosition along_m = position_on(m, m_size);
  const AxisPosition along_n = position_on(n, n_size);
  const AxisPosition along_k = position_on(k, k_size);
  double sum = 0;
  for (std::size_t corner = 0; corner < 8; ++corner) {
    const std::size_t dm = corner >> 2 & 1;
    const std::size_t dn = corner >> 1 & 1;
    const std::size_t dk = corner & 1;
    const double weight = (dm != 0 ? along_m.weight : 1 - along_m.weight) *
                          (dn != 0 ? along_n.weight : 1 - along_n.weight) *
                          (dk != 0 ? along_k.weight : 1 - along_k.weight);
    if (!(weight > 0)) continue;
    const std::size_t index =
        ((along_m.lower + dm) * n.size() + along_n.lower + dn) * k.size() + along_k.lower + dk;
    sum += weight * percent[index];
  }
  return 1 + sum / 100;
}

bool GemmCorrection::covers(std::int64_t m_size, std::int64_t n_size, std::int64_t k_size) const {
  const auto within = [](const std::vector<std::int64_t>& axis, std::int64_t size) {
    return axis.front() <= size && size <= axis.back();
  };
  return !empty() && within(m, m_size) && within(n, n_size) && within(k, k_size);
}

}  // namespace stepsim::workloads
