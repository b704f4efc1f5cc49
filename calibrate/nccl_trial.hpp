#pragma once

/// Simulated variants of a measured group, the best of each kind kept. Private to calibrate.

#include "calibrate/nccl_suspects.hpp"

#include <optional>
#include <utility>

namespace stepsim::calibrate {

class Trial {
 public:
  Trial(const topology::CollectiveModel& model, const MeasuredGroup& measured,
        const std::vector<CurvePoint>& curve)
      : model_(model), measured_(measured), curve_(curve) {}

  const topology::Node& node() const { return measured_.cluster.node; }
  topology::GroupShape group() const {
    return lone_group_shape(measured_.cluster, measured_.members);
  }
  const MeasuredGroup& measured() const { return measured_; }
  const std::vector<CurvePoint>& curve() const { return curve_; }

  std::vector<double> as_expected() const {
    return predicted_times(model_, measured_.cluster, measured_, curve_);
  }
  /// Empty when NCCL finds no channel there, because a link is too slow.
  std::vector<double> on(const topology::Cluster& cluster) const;
  std::vector<double> with(const topology::NcclSettings& settings) const {
    return predicted_times(model_.with(settings), measured_.cluster, measured_, curve_);
  }
  std::vector<double> uncalibrated() const {
    return predicted_times(model_.uncalibrated(), measured_.cluster, measured_, curve_);
  }
  /// The wires carry a share of what they should, and NCCL does not know: its choices stay, and
  /// what is not latency takes longer.
  std::vector<double> with_wires_at(double share) const;
  /// All ports at a share of their rate, which NCCL knows; empty as above.
  std::vector<double> with_ports_at(double share) const;

  /// Bus bandwidth in GB/s that a prediction gives the largest message.
  double plateau(const std::vector<double>& predicted_us) const;

 private:
  const topology::CollectiveModel& model_;
  const MeasuredGroup& measured_;
  const std::vector<CurvePoint>& curve_;
};

/// The variant of one kind of suspect that fits best.
template <class Parameter>
class BestFit {
 public:
  explicit BestFit(const Trial& trial) : trial_(trial) {}
  /// Empty times are no variant.
  void offer(Parameter parameter, std::vector<double> predicted_us) {
    if (predicted_us.empty()) return;
    const double error = fit_error(trial_.curve(), predicted_us);
    if (found_ && error >= error_) return;
    found_ = true;
    error_ = error;
    parameter_ = std::move(parameter);
    predicted_us_ = std::move(predicted_us);
  }
  bool found() const { return found_; }
  const Parameter& parameter() const { return parameter_; }
  double plateau() const { return trial_.plateau(predicted_us_); }
  Suspect suspect(std::string key, std::string cause, std::string predicts, std::string test,
                  double handicap) const {
    return {std::move(key), std::move(cause), std::move(predicts), std::move(test),
            error_,         handicap,         predicted_us_};
  }

 private:
  const Trial& trial_;
  bool found_ = false;
  double error_ = 0;
  Parameter parameter_{};
  std::vector<double> predicted_us_;
};

/// Suspects of the wires between nodes, of the wires inside one, and of NCCL's own choices.
void add_port_suspects(const Trial& trial, std::vector<Suspect>& suspects);
void add_congestion_suspects(const Trial& trial, std::vector<Suspect>& suspects);
void add_node_suspects(const Trial& trial, std::vector<Suspect>& suspects);
void add_choice_suspects(const Trial& trial, std::vector<Suspect>& suspects);

}  // namespace stepsim::calibrate
