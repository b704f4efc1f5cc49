#pragma once

/// Measured against predicted: factors on NCCL's own prediction, by system, collective, algorithm,
/// protocol and size (topology/nccl/calibration.yaml). The tuner decides which algorithm runs; the
/// factors say how long it really takes.

#include "topology/collective.hpp"
#include "topology/nccl/tuning.hpp"

#include "sim/base/data_directory.hpp"

#include <optional>
#include <string>
#include <vector>

namespace stepsim::topology {

/// Factors of one algorithm and protocol on one kind of group, at some sizes. Between sizes the
/// factor is a straight line over log2(bytes); below the first it is the first; above the last
/// the extra time is `beyond` times the extra predicted time.
struct CalibrationCurve {
  Collective collective = Collective::all_reduce;
  int scale = 8;  // ranks of a group on one node; nodes of a larger one
  std::string algorithm;
  std::string protocol;
  std::string tables;  // version of the tuner tables the factors go with; empty: any
  std::vector<Bytes> sizes;
  std::vector<double> factors;
  double beyond = 1;
};

/// Everything one source knows of some GPU types, within a node or between nodes. When several
/// know a curve, the first in the file counts.
struct CalibrationSystem {
  std::vector<std::string> devices;
  std::vector<std::string> nodes;  // node types it is of; empty: all with these devices
  bool several_nodes = false;
  Source source;
  std::vector<CalibrationCurve> curves;
};

struct Calibration {
  std::vector<CalibrationSystem> systems;
  std::string file;
  std::string hash;
};
Calibration load_calibration(const DataDirectory& data);

/// The curves that apply to one group: neighbours in scale.
class GroupCalibration {
 public:
  GroupCalibration(const Calibration& calibration, const Node& node, const std::string& tables,
                   const GroupShape& group);

  struct Factor {
    double value = 1;
    bool found = false;    // some curve serves this case
    bool assumed = false;  // no curve for this case: a neighbour's, or none at all
  };
  /// Factor on a predicted time. `predicted_us(bytes)` is the tuner's time of the same algorithm
  /// and protocol at another size.
  template <class Predicted>
  Factor factor(Collective collective, const std::string& algorithm, const std::string& protocol,
                Bytes bytes, Predicted predicted_us) const;

 private:
  struct Neighbours {
    const CalibrationCurve* lower = nullptr;
    const CalibrationCurve* upper = nullptr;
    double weight_of_upper = 0;
    bool assumed = false;
  };
  Neighbours find(Collective collective, const std::string& algorithm,
                  const std::string& protocol) const;
  Neighbours find_in(const CalibrationSystem& system, Collective collective,
                     const std::string& algorithm, const std::string& protocol) const;

  std::vector<const CalibrationSystem*> systems_;
  std::string tables_;
  int scale_ = 1;
};

/// The factor of one curve inside its sizes.
double factor_at(const CalibrationCurve& curve, Bytes bytes);

template <class Predicted>
GroupCalibration::Factor GroupCalibration::factor(Collective collective,
                                                  const std::string& algorithm,
                                                  const std::string& protocol, Bytes bytes,
                                                  Predicted predicted_us) const {
  const Neighbours curves = find(collective, algorithm, protocol);
  if (curves.lower == nullptr) return {1, false, true};
  const auto one = [&](const CalibrationCurve& curve) {
    const double inside = factor_at(curve, bytes);
    if (bytes <= curve.sizes.back()) return inside;
    const double last = predicted_us(curve.sizes.back());
    const double here = predicted_us(bytes);
    return (inside * last + curve.beyond * (here - last)) / here;
  };
  const double lower = one(*curves.lower);
  const double upper = one(*curves.upper);
  return {lower + curves.weight_of_upper * (upper - lower), true, curves.assumed};
}

}  // namespace stepsim::topology
