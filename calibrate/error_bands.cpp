#include "calibrate/error_bands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace stepsim::calibrate {

namespace {

using workloads::FitError;

class Bands {
 public:
  void add(const std::string& band, double error) {
    for (auto& [name, errors] : bands_)
      if (name == band) return errors.push_back(error);
    bands_.emplace_back(band, std::vector<double>{error});
  }

  std::vector<FitError> summary() {
    std::vector<FitError> result;
    for (auto& [name, errors] : bands_) {
      std::sort(errors.begin(), errors.end());
      double sum = 0;
      for (const double error : errors) sum += error;
      const std::size_t count = errors.size();
      result.push_back({name, static_cast<int>(count), sum / static_cast<double>(count),
                        errors[count / 2], errors[std::min(count - 1, count * 95 / 100)]});
    }
    return result;
  }

 private:
  std::vector<std::pair<std::string, std::vector<double>>> bands_;  // in order of appearance
};

}  // namespace

std::vector<FitError> gemm_errors(const std::vector<GemmMeasurement>& rows,
                                  const std::function<double(const workloads::Gemm&)>& predict_s) {
  Bands bands;
  for (const GemmMeasurement& row : rows) {
    const double error = std::abs(predict_s(row.gemm) / row.time_s - 1);
    bands.add("all", error);
    bands.add(row.gemm.m >= 128 ? "m >= 128" : "m < 128", error);
    if (std::min({row.gemm.m, row.gemm.n, row.gemm.k}) >= 1024) bands.add("m,n,k >= 1024", error);
  }
  return bands.summary();
}

std::vector<FitError> attention_errors(
    const std::vector<AttentionMeasurement>& rows,
    const std::function<double(const workloads::Attention&)>& predict_s) {
  Bands bands;
  std::map<std::int64_t, std::vector<double>> by_head_dim;
  for (const AttentionMeasurement& row : rows) {
    const double error = std::abs(predict_s(row.attention) / row.time_s - 1);
    const double flops = workloads::flops(workloads::Kernel{"", row.attention, 1});
    bands.add("all", error);
    if (flops >= 1e11) bands.add("FLOPs >= 1e11", error);
    if (flops < 1e10) bands.add("FLOPs < 1e10", error);
    by_head_dim[row.attention.head_dim].push_back(error);
  }
  for (const auto& [head_dim, errors] : by_head_dim)
    for (const double error : errors) bands.add(fmt::format("head_dim {}", head_dim), error);
  return bands.summary();
}

std::string format_errors(const std::vector<FitError>& errors) {
  std::string text;
  for (const FitError& e : errors)
    text += fmt::format("    {:16} {:6} rows  mean {:5.1f} %  median {:5.1f} %  p95 {:5.1f} %\n",
                        e.band, e.count, 100 * e.mean, 100 * e.median, 100 * e.percentile_95);
  return text;
}

}  // namespace stepsim::calibrate
