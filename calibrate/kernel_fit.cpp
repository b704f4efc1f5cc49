#include "calibrate/kernel_fit.hpp"

#include "calibrate/attention_fit.hpp"
#include "calibrate/error_bands.hpp"
#include "calibrate/gemm_correction_fit.hpp"
#include "calibrate/gemm_fit.hpp"
#include "calibrate/kernel_priors.hpp"
#include "calibrate/profile_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>

namespace stepsim::calibrate {

namespace {

using workloads::Gemm;
using workloads::Setting;

constexpr const char* data_set = "aiconfigurator performance tables (ai-dynamo, Apache-2.0)";
constexpr std::size_t sampled_rows = 2000;

template <class Row, class Shape>
std::pair<std::vector<Row>, std::vector<Row>> split_rows(const std::vector<Row>& rows,
                                                         Shape Row::*shape) {
  std::pair<std::vector<Row>, std::vector<Row>> parts;
  for (const Row& row : rows) (held_out(row.*shape) ? parts.second : parts.first).push_back(row);
  return parts;
}

Source fitted_source(std::size_t rows, const std::vector<workloads::FitError>& errors) {
  return {SourceKind::fitted, fmt::format("{}, {} rows; mean error on those held out {:.1f} %",
                                          data_set, rows, 100 * errors.front().mean)};
}

void describe(const std::vector<Parameter>& parameters, const FitResult& result,
              FitReport& report) {
  report.text +=
      fmt::format("    {} iterations; strongest ridge: {}\n   ", result.iterations, result.ridge);
  for (std::size_t i = 0; i < parameters.size(); ++i)
    report.text += fmt::format(" {}={} (±{:.0f} %)", parameters[i].name, rounded(result.values[i]),
                               100 * result.spread[i]);
  report.text += '\n';
}

/// Every size that was measured is a node: the residuals jump from one tile edge to the next. In
/// thin multiplications and in fp8 every second one is enough.
CorrectionAxes axes_of(const std::vector<GemmMeasurement>& rows) {
  std::set<std::int64_t> m;
  std::set<std::int64_t> n;
  std::set<std::int64_t> k;
  for (const GemmMeasurement& row : rows) {
    const bool one_more = row.gemm.m % 2 == 1 && row.gemm.m > 1;
    const bool fp8 = row.gemm.format == topology::MatrixFormat::fp8;
    if (!one_more || (row.gemm.m > 128 && !fp8)) m.insert(row.gemm.m);
    n.insert(row.gemm.n);
    k.insert(row.gemm.k);
  }
  return {{m.begin(), m.end()}, {n.begin(), n.end()}, {k.begin(), k.end()}};
}

/// The coefficients as the profile will state them.
workloads::GemmCoefficients as_stated(const workloads::GemmCoefficients& prior,
                                      std::vector<double> values) {
  for (double& value : values) value = std::stod(rounded(value));
  return with_values(prior, values);
}

}  // namespace

workloads::GemmMachine machine_of(const topology::Device& device, topology::MatrixFormat format) {
  const int sms = device.streaming_multiprocessors.value;
  return {sms, sms, device.peak.at(format).value.flops_per_second(),
          device.memory_bandwidth.value.bytes_per_second(),
          static_cast<double>(device.l2_cache.value.count())};
}

workloads::GemmProfile fit_gemm_profile(const std::vector<GemmMeasurement>& rows,
                                        const topology::Device& device, FitReport& report) {
  const auto [training, unseen] = split_rows(rows, &GemmMeasurement::gemm);
  const topology::MatrixFormat format = rows.front().gemm.format;
  const workloads::GemmMachine machine = machine_of(device, format);
  const workloads::GemmCoefficients prior = gemm_prior(device.architecture, format);
  const FitResult result = fit_gemm(sample(training, sampled_rows), machine, prior, FitOptions{});

  workloads::GemmProfile profile;
  profile.coefficients = as_stated(prior, result.values);
  const auto model = [&](const Gemm& gemm) {
    return gemm_time(gemm, machine, profile.coefficients, Setting::benchmark).total_s;
  };
  std::vector<Ratio> ratios;
  for (const GemmMeasurement& row : training)
    ratios.push_back({row.gemm, row.time_s / model(row.gemm)});
  profile.correction = fit_correction(ratios, axes_of(training), CorrectionOptions{});
  const auto corrected = [&](const Gemm& gemm) {
    return model(gemm) * profile.correction.factor(gemm.m, gemm.n, gemm.k);
  };
  profile.held_out = gemm_errors(unseen, corrected);
  profile.source = fitted_source(rows.size(), profile.held_out);

  report.text += fmt::format("  gemm {}\n", to_string(format));
  describe(gemm_parameters(prior), result, report);
  report.text += "   trained on, model alone:\n" + format_errors(gemm_errors(training, model));
  report.text += "   trained on, corrected:\n" + format_errors(gemm_errors(training, corrected));
  report.text += "   held out, model alone:\n" + format_errors(gemm_errors(unseen, model));
  report.text += "   held out, corrected:\n" + format_errors(profile.held_out);
  return profile;
}

workloads::AttentionProfile fit_attention_profile(const std::vector<AttentionMeasurement>& rows,
                                                  const topology::Device& device,
                                                  FitReport& report) {
  const auto [training, unseen] = split_rows(rows, &AttentionMeasurement::attention);
  const workloads::GemmMachine m = machine_of(device, topology::MatrixFormat::bf16);
  const workloads::AttentionMachine machine{m.sms, m.sms, m.peak_flops_per_s, m.memory_bytes_per_s};
  const AttentionFit result =
      fit_attention(training, machine, attention_prior(device.architecture), FitOptions{});
  workloads::AttentionProfile profile;
  profile.coefficients = result.coefficients;
  const auto model = [&](const workloads::Attention& attention) {
    return attention_forward_time(attention, machine, profile.coefficients, Setting::benchmark)
        .total_s;
  };
  profile.held_out = attention_errors(unseen, model);
  profile.source = fitted_source(rows.size(), profile.held_out);
  assume_attention_ratios(device.architecture, profile);
  report.text += fmt::format("  attention forward\n    {} iterations; strongest ridge: {}\n",
                             result.result.iterations, result.result.ridge);
  report.text += "   trained on:\n" + format_errors(attention_errors(training, model));
  report.text += "   held out:\n" + format_errors(profile.held_out);
  return profile;
}

}  // namespace stepsim::calibrate
