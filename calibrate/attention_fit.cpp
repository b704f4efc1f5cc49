#include "calibrate/attention_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>

namespace stepsim::calibrate {

namespace {

using workloads::AttentionCoefficients;

constexpr std::size_t general_count = 5;

std::set<std::int64_t> measured_head_dims(const std::vector<AttentionMeasurement>& rows) {
  std::set<std::int64_t> head_dims;
  for (const AttentionMeasurement& row : rows) head_dims.insert(row.attention.head_dim);
  return head_dims;
}

std::vector<Parameter> parameters_for(const AttentionCoefficients& prior,
                                      const std::set<std::int64_t>& head_dims) {
  std::vector<Parameter> parameters{
      {"launch", prior.launch_s, 0.5e-6, 30e-6, 0.5},
      {"row", prior.row_s, 0, 10e-6, 1},
      {"memory_efficiency", prior.memory_efficiency, 0.3, 1, 0.1},
      {"quantisation", prior.quantisation, 0, 1, 1},
      {"prepare_passes", prior.prepare_passes, 0, 10, 1},
  };
  for (const std::int64_t head_dim : head_dims)
    parameters.push_back({"efficiency_" + std::to_string(head_dim),
                          efficiency_of(prior, head_dim).efficiency, 0.05, 1, 0.5});
  return parameters;
}

AttentionCoefficients with_values(const AttentionCoefficients& prior,
                                  const std::set<std::int64_t>& head_dims,
                                  const std::vector<double>& values) {
  AttentionCoefficients c = prior;
  c.launch_s = values[0];
  c.row_s = values[1];
  c.memory_efficiency = values[2];
  c.quantisation = values[3];
  c.prepare_passes = values[4];
  c.head_dims.clear();
  std::size_t next = general_count;
  for (const std::int64_t head_dim : head_dims)
    c.head_dims.push_back({head_dim, values[next++], true});
  return c;
}

}  // namespace

AttentionFit fit_attention(const std::vector<AttentionMeasurement>& rows,
                           const workloads::AttentionMachine& machine,
                           const AttentionCoefficients& prior, const FitOptions& options) {
  const std::set<std::int64_t> head_dims = measured_head_dims(rows);
  const auto residuals = [&](const std::vector<double>& values, Eigen::VectorXd& out) {
    const AttentionCoefficients c = with_values(prior, head_dims, values);
    Eigen::Index i = 0;
    for (const AttentionMeasurement& row : rows)
      out[i++] = std::log(
          attention_forward_time(row.attention, machine, c, workloads::Setting::benchmark).total_s /
          row.time_s);
  };
  AttentionFit result;
  result.result = fit(parameters_for(prior, head_dims), residuals,
                      static_cast<Eigen::Index>(rows.size()), options);
  result.coefficients = with_values(prior, head_dims, result.result.values);
  for (const auto& entry : prior.head_dims)
    if (head_dims.count(entry.head_dim) == 0) result.coefficients.head_dims.push_back(entry);
  std::sort(result.coefficients.head_dims.begin(), result.coefficients.head_dims.end(),
            [](const auto& a, const auto& b) { return a.head_dim < b.head_dim; });
  return result;
}

}  // namespace stepsim::calibrate
