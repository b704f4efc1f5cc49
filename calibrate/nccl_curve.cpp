#include "calibrate/nccl_curve.hpp"

#include <algorithm>
#include <cmath>

namespace stepsim::calibrate {

namespace {

constexpr Bytes small_below(1 << 20);
constexpr Bytes large_from(16 << 20);

double doublings(Bytes from, Bytes to) {
  return std::log2(static_cast<double>(to.count()) / static_cast<double>(from.count()));
}

// Half the way to either neighbour, so that many points close together count no more than one.
void weigh(std::vector<CurvePoint>& curve) {
  constexpr double least = 0.05;
  constexpr double most = 2;
  constexpr double of_small = 0.25;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const std::size_t before = i == 0 ? i : i - 1;
    const std::size_t after = std::min(i + 1, curve.size() - 1);
    const double gaps = static_cast<double>(after - before);
    const double span = gaps == 0 ? 1 : doublings(curve[before].bytes, curve[after].bytes) / gaps;
    curve[i].weight = std::clamp(span, least, most);
    if (curve[i].bytes < small_below) curve[i].weight *= of_small;
  }
}

}  // namespace

std::vector<CurvePoint> curve_of(const NcclTestsLog& log) {
  std::vector<CurvePoint> curve;
  for (const NcclTestsRow& row : log.rows) curve.push_back({row.bytes, row.best().time_us, 0});
  std::sort(curve.begin(), curve.end(), [](const CurvePoint& a, const CurvePoint& b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.measured_us < b.measured_us;
  });
  const auto same_size = [](const CurvePoint& a, const CurvePoint& b) {
    return a.bytes == b.bytes;
  };
  curve.erase(std::unique(curve.begin(), curve.end(), same_size), curve.end());
  weigh(curve);
  return curve;
}

std::vector<double> times_on(const std::vector<CurvePoint>& curve, const TimeOf& time_us) {
  std::vector<double> times;
  for (const CurvePoint& point : curve) times.push_back(time_us(point.bytes));
  return times;
}

double fit_error(const std::vector<CurvePoint>& curve, const std::vector<double>& predicted_us,
                 std::size_t first, std::size_t last) {
  double sum = 0;
  double weights = 0;
  for (std::size_t i = first; i < last; ++i) {
    sum += curve[i].weight * std::abs(std::log(curve[i].measured_us / predicted_us[i]));
    weights += curve[i].weight;
  }
  return weights > 0 ? sum / weights : 0;
}

double fit_error(const std::vector<CurvePoint>& curve, const std::vector<double>& predicted_us) {
  return fit_error(curve, predicted_us, 0, curve.size());
}

std::size_t first_large(const std::vector<CurvePoint>& curve) {
  const auto large = std::find_if(curve.begin(), curve.end(), [](const CurvePoint& point) {
    return point.bytes >= large_from;
  });
  if (large != curve.end()) return static_cast<std::size_t>(large - curve.begin());
  return curve.size() - (curve.size() + 2) / 3;
}

std::size_t past_small(const std::vector<CurvePoint>& curve) {
  const auto large = std::find_if(curve.begin(), curve.end(), [](const CurvePoint& point) {
    return point.bytes >= small_below;
  });
  return static_cast<std::size_t>(large - curve.begin());
}

double mean_ratio(const std::vector<CurvePoint>& curve, const std::vector<double>& predicted_us,
                  std::size_t first) {
  double sum = 0;
  double weights = 0;
  for (std::size_t i = first; i < curve.size(); ++i) {
    sum += curve[i].weight * std::log(predicted_us[i] / curve[i].measured_us);
    weights += curve[i].weight;
  }
  return weights > 0 ? std::exp(sum / weights) : 1;
}

}  // namespace stepsim::calibrate
