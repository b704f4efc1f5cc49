#include "scenarios/counted_random.hpp"

namespace stepsim::scenarios {

double exponential_of(double share) {
  constexpr double ln_2 = 0.69314718055994530942;
  double halvings = 0;
  while (share < 0.70710678118654752440) {  // into [√½, √2), which loses nothing
    share *= 2;
    ++halvings;
  }
  // ln x = 2·(s + s³/3 + s⁵/5 + …) with s = (x − 1)/(x + 1), here |s| ≤ 0.172.
  const double s = (share - 1) / (share + 1);
  const double square = s * s;
  double power = s;
  double sum = 0;
  for (int odd = 1; odd <= 21; odd += 2) {
    sum += power / odd;
    power *= square;
  }
  return halvings * ln_2 - 2 * sum;
}

}  // namespace stepsim::scenarios
