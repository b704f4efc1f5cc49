#pragma once

/// How two clocks that overlap add up: between their maximum (perfect overlap) and their sum.

#include <cmath>

namespace stepsim::workloads {

/// (aᵖ + bᵖ)^(1/p) with p = 2^doublings (2, 4 or 8): squares and square roots only, so that the
/// result is the same on every machine. Never below the larger of the two.
inline double overlapped(double a_s, double b_s, int doublings) {
  const double larger = a_s > b_s ? a_s : b_s;
  const double smaller = a_s > b_s ? b_s : a_s;
  if (!(larger > 0)) return 0;
  double ratio = smaller / larger;
  for (int i = 0; i < doublings; ++i) ratio *= ratio;
  double root = 1 + ratio;
  for (int i = 0; i < doublings; ++i) root = std::sqrt(root);
  return larger * root;
}

}  // namespace stepsim::workloads
