#pragma once

/// A measured curve of a collective over message sizes, and how well a prediction fits it.

#include "calibrate/nccl_tests.hpp"

#include <functional>
#include <vector>

namespace stepsim::calibrate {

struct CurvePoint {
  Bytes bytes;
  double measured_us = 0;  // the fastest measurement of this size
  double weight = 0;       // doublings that it stands for; a quarter of that below 1 MiB
};

/// Sorted by size, a point a size. Small messages weigh less, because launching them costs
/// different hosts different times.
std::vector<CurvePoint> curve_of(const NcclTestsLog& log);

/// Microseconds of a message.
using TimeOf = std::function<double(Bytes)>;
std::vector<double> times_on(const std::vector<CurvePoint>& curve, const TimeOf& time_us);

/// Weighted mean of |ln(measured / predicted)| over points [first, last): 0.1 is ten percent.
double fit_error(const std::vector<CurvePoint>& curve, const std::vector<double>& predicted_us,
                 std::size_t first, std::size_t last);
double fit_error(const std::vector<CurvePoint>& curve, const std::vector<double>& predicted_us);

/// The points that say what the wires carry: those from 16 MiB up, or the largest third.
std::size_t first_large(const std::vector<CurvePoint>& curve);
/// One past the last point below 1 MiB.
std::size_t past_small(const std::vector<CurvePoint>& curve);

/// exp(weighted mean of ln(predicted / measured)) from `first` on: bandwidth reached over
/// bandwidth predicted.
double mean_ratio(const std::vector<CurvePoint>& curve, const std::vector<double>& predicted_us,
                  std::size_t first);

}  // namespace stepsim::calibrate
