#pragma once

/// Fits factors on NCCL's prediction to measured times, and says how far the fit is off.

#include "topology/collective_calibration.hpp"

#include "tests/topology/calibration_data.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace stepsim::topology {

/// Predictions for a measured kind of group under one release's tables: NCCL's own, unless asked
/// for calibrated ones.
class Baseline {
 public:
  Baseline(const MeasuredGroup& group, const std::string& tables,
           CalibrationUse use = CalibrationUse::nccl_alone);
  CollectivePrediction predict(std::int64_t bytes) const;
  const std::string& tables() const { return model_.tables_version(); }
  const GroupShape& group() const { return group_; }

 private:
  CollectiveModel model_;
  Collective collective_;
  GroupShape group_;
};

/// Curves of one kind of group: one for each algorithm and protocol that NCCL chooses at a measured
/// size that `use` accepts.
std::vector<CalibrationCurve> fit_curves(const MeasuredGroup& group, const MeasuredTimes& times,
                                         const Baseline& baseline,
                                         const std::function<bool(std::int64_t)>& use);

/// The three releases whose tables ship.
const std::vector<std::string>& fitted_tables();

/// For tables of one release: the measured group of each kind whose release is nearest.
Measurements nearest_release(const Measurements& measurements, const std::string& tables);

/// The file topology/nccl/calibration.yaml as text.
std::string calibration_text(const Measurements& measurements);

}  // namespace stepsim::topology
