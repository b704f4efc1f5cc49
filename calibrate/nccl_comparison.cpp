#include "calibrate/nccl_comparison.hpp"

#include "calibrate/nccl_measured_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace stepsim::calibrate {

using topology::CollectiveModel;
using topology::CollectivePrediction;

namespace {

/// The model's own error from 1 MiB up is below 15 % in nine of ten cases (docs/collectives.md).
constexpr double slow_below = 0.8;
constexpr double fast_above = 1.2;
/// One size that falls this far behind is no noise, whatever the mean; below 64 MiB a slow launch
/// may do it.
constexpr double slow_anywhere = 0.6;
constexpr Bytes no_launch_from(64 << 20);
/// A suspect that misses the curve by more, or hardly less than no fault at all, explains nothing.
constexpr double good_fit = 0.2;
/// On a curve that jumps about, one that takes most of the misfit away is good enough.
constexpr double fair_fit = 0.35;
constexpr double most_of_misfit = 0.3;
constexpr double better_than_expected = 0.7;
constexpr std::size_t most_suspects = 5;

void compare_sizes(const CollectiveModel& model, NcclComparison& comparison) {
  const MeasuredGroup& measured = comparison.measured;
  const topology::GroupShape group = lone_group_shape(measured.cluster, measured.members);
  const double factor = topology::bus_factor(measured.collective, group.ranks);
  for (const CurvePoint& point : comparison.curve) {
    const CollectivePrediction expected = model.predict(measured.collective, point.bytes, group);
    ComparedSize size;
    size.bytes = point.bytes;
    size.measured_us = point.measured_us;
    size.measured_gb_per_s =
        factor * static_cast<double>(point.bytes.count()) / (1000 * point.measured_us);
    size.expected_us = expected.time_us;
    size.expected_gb_per_s = expected.bus_bandwidth_gb_per_s;
    size.ratio = size.expected_us / size.measured_us;
    size.algorithm = expected.algorithm + "/" + expected.protocol;
    size.assumed = expected.assumed;
    comparison.sizes.push_back(std::move(size));
  }
}

// The last four doublings of size: what the wires carry in the end.
std::size_t first_of_plateau(const std::vector<CurvePoint>& curve) {
  std::size_t first = curve.size() - 1;
  while (first > 0 && curve[first - 1].bytes.count() >= curve.back().bytes.count() / 8) --first;
  return first;
}

void judge(NcclComparison& comparison) {
  const std::size_t first = first_large(comparison.curve);
  std::vector<double> expected;
  double worst = 1;
  for (std::size_t i = 0; i < comparison.sizes.size(); ++i) {
    expected.push_back(comparison.sizes[i].expected_us);
    if (comparison.curve[i].bytes >= no_launch_from)
      worst = std::min(worst, comparison.sizes[i].ratio);
  }
  comparison.large_from = comparison.curve[first].bytes;
  comparison.large_ratio = mean_ratio(comparison.curve, expected, first);
  comparison.expected_error = fit_error(comparison.curve, expected);
  const double plateau = mean_ratio(comparison.curve, expected, first_of_plateau(comparison.curve));
  if (std::min(comparison.large_ratio, plateau) < slow_below || worst < slow_anywhere) {
    comparison.verdict = CurveVerdict::slow;
  } else if (comparison.large_ratio > fast_above) {
    comparison.verdict = CurveVerdict::fast;
  }
}

// What the largest messages reach, right where the expectation is clearly wrong: that counts even
// when smaller ones run otherwise, which hosts, launches and tuners do.
bool explains_plateau(const NcclComparison& comparison, const Suspect& suspect) {
  constexpr double right = 0.07;
  constexpr double wrong = 0.15;
  std::vector<double> expected;
  for (const ComparedSize& size : comparison.sizes) expected.push_back(size.expected_us);
  const std::size_t first = first_of_plateau(comparison.curve);
  const auto miss = [&](const std::vector<double>& predicted) {
    return std::abs(mean_ratio(comparison.curve, predicted, first) - 1);
  };
  return miss(suspect.predicted_us) < right && miss(expected) > wrong;
}

void keep_those_that_fit(NcclComparison& comparison) {
  std::vector<Suspect>& suspects = comparison.suspects;
  const auto misses = [&](const Suspect& suspect) {
    return suspect.error > better_than_expected * comparison.expected_error &&
           !explains_plateau(comparison, suspect);
  };
  suspects.erase(std::remove_if(suspects.begin(), suspects.end(), misses), suspects.end());
  if (suspects.empty()) return;
  const double best = suspects.front().error + suspects.front().handicap;
  const double error = suspects.front().error;
  comparison.explained = error <= good_fit ||
                         (error <= fair_fit && error <= most_of_misfit * comparison.expected_error);
  const double worst = std::max(2 * best, best + 0.1);
  const auto far = [&](const Suspect& suspect) { return suspect.error + suspect.handicap > worst; };
  suspects.erase(std::remove_if(suspects.begin(), suspects.end(), far), suspects.end());
  if (suspects.size() > most_suspects) suspects.resize(most_suspects);
}

// Small messages that take over twice as long as expected, and by more than hosts differ.
void look_at_small(const CollectiveModel& model, NcclComparison& comparison) {
  const std::size_t past = past_small(comparison.curve);
  if (past == 0) return;
  constexpr double twice = 0.5;
  constexpr double much_us = 30;
  std::vector<ComparedSize> small(comparison.sizes.begin(),
                                  comparison.sizes.begin() + static_cast<std::ptrdiff_t>(past));
  const auto middle = small.begin() + static_cast<std::ptrdiff_t>(past / 2);
  std::nth_element(small.begin(), middle, small.end(),
                   [](const ComparedSize& a, const ComparedSize& b) { return a.ratio < b.ratio; });
  if (middle->ratio > twice || middle->measured_us - middle->expected_us < much_us) return;
  comparison.launch = launch_suspect(model, comparison.measured, comparison.curve);
}

void note_what_is_expected(NcclComparison& comparison) {
  constexpr std::size_t few = 4;
  if (comparison.curve.size() < few && comparison.verdict != CurveVerdict::as_expected) {
    comparison.notes.push_back(fmt::format(
        "{} size{} hardly make a curve: measure from 8 B to 8 GiB to tell reasons apart",
        comparison.curve.size(), comparison.curve.size() == 1 ? "" : "s"));
  }
  const MeasuredGroup& measured = comparison.measured;
  const topology::GroupShape group = lone_group_shape(measured.cluster, measured.members);
  if (!group.one_nvlink_domain) {
    comparison.notes.push_back(fmt::format(
        "NVLink joins these GPUs in groups of {} only, so {} a node talk over PCIe: that is what "
        "is expected",
        measured.cluster.node.nvlink_domain, group.ranks_per_node));
  }
  const auto is_assumed = [](const ComparedSize& size) { return size.assumed; };
  const auto assumed = std::count_if(comparison.sizes.begin(), comparison.sizes.end(), is_assumed);
  if (assumed > 0) {
    comparison.notes.push_back(
        fmt::format("expected times of {} of {} sizes rest on assumed factors: nobody measured "
                    "such a group",
                    assumed, comparison.sizes.size()));
  }
}

}  // namespace

const char* to_string(CurveVerdict verdict) {
  switch (verdict) {
    case CurveVerdict::as_expected:
      return "as_expected";
    case CurveVerdict::slow:
      return "slow";
    case CurveVerdict::fast:
      return "fast";
  }
  return "unknown";
}

NcclComparison compare_nccl_tests(const DataDirectory& data, const NcclTestsLog& log,
                                  const MeasuredRun& run) {
  NcclComparison comparison;
  comparison.notes = log.notes;
  comparison.measured = measured_group(log, run, comparison.notes);
  comparison.curve = curve_of(log);
  const CollectiveModel model(data, comparison.measured.cluster, run.nccl);
  compare_sizes(model, comparison);
  judge(comparison);
  if (comparison.verdict == CurveVerdict::slow) {
    comparison.suspects = slow_suspects(model, comparison.measured, comparison.curve);
  } else if (comparison.verdict == CurveVerdict::fast) {
    comparison.suspects = fast_suspects(model, comparison.measured, comparison.curve);
  }
  keep_those_that_fit(comparison);
  look_at_small(model, comparison);
  note_what_is_expected(comparison);
  return comparison;
}

}  // namespace stepsim::calibrate
