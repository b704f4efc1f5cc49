#include "calibrate/gemm_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace stepsim::calibrate {

namespace {

using workloads::GemmCoefficients;

struct Fitted {
  const char* name;
  double GemmCoefficients::*member;
  double lower;
  double upper;
  double spread;  // of the prior, in logarithms
};

// Efficiencies stop at 1; the rest at what the hardware could conceivably do.
constexpr std::array<Fitted, 14> fitted{{
    {"launch", &GemmCoefficients::launch_s, 0.5e-6, 8e-6, 0.4},
    {"math_efficiency", &GemmCoefficients::math_efficiency, 0.3, 1, 0.2},
    {"tile_half_size", &GemmCoefficients::tile_half_size, 0, 64, 1},
    {"k_fill", &GemmCoefficients::k_fill, 0, 1000, 0.5},
    {"feed", &GemmCoefficients::feed_bytes_per_s_per_sm, 1e10, 5e11, 0.5},
    {"memory_efficiency", &GemmCoefficients::memory_efficiency, 0.5, 1, 0.1},
    {"l2_share", &GemmCoefficients::l2_share, 0.05, 1, 0.5},
    {"warm_share", &GemmCoefficients::warm_share, 0.02, 1, 0.5},
    {"wave_quantisation", &GemmCoefficients::wave_quantisation, 0, 1, 1},
    {"wave_latency", &GemmCoefficients::wave_latency_s, 0, 5e-6, 1},
    {"split_k", &GemmCoefficients::split_k_s, 0, 10e-6, 0.5},
    {"sustained_slowdown", &GemmCoefficients::sustained_slowdown, 0, 1, 1},
    {"quantise_start", &GemmCoefficients::quantise_start_s, 0, 30e-6, 0.5},
    {"quantise_bytes", &GemmCoefficients::quantise_bytes, 0, 20, 0.5},
}};

/// The last two only where the benchmark quantises.
std::size_t fitted_count(const GemmCoefficients& prior) {
  return prior.quantise_bytes > 0 ? fitted.size() : fitted.size() - 2;
}

int band_of(const workloads::Gemm& gemm) {
  if (gemm.m < 128) return 2;
  return std::min({gemm.m, gemm.n, gemm.k}) >= 1024 ? 0 : 1;
}

}  // namespace

std::vector<Parameter> gemm_parameters(const GemmCoefficients& prior) {
  std::vector<Parameter> parameters;
  for (std::size_t i = 0; i < fitted_count(prior); ++i) {
    const Fitted& f = fitted[i];
    parameters.push_back({f.name, prior.*f.member, f.lower, f.upper, f.spread});
  }
  return parameters;
}

GemmCoefficients with_values(const GemmCoefficients& prior, const std::vector<double>& values) {
  GemmCoefficients coefficients = prior;
  for (std::size_t i = 0; i < values.size(); ++i) coefficients.*fitted[i].member = values[i];
  return coefficients;
}

std::vector<GemmMeasurement> sample(const std::vector<GemmMeasurement>& rows, std::size_t count) {
  std::array<std::vector<const GemmMeasurement*>, 3> bands;
  for (const GemmMeasurement& row : rows)
    bands[static_cast<std::size_t>(band_of(row.gemm))].push_back(&row);
  constexpr std::array<std::size_t, 3> shares{2, 2, 1};
  std::vector<GemmMeasurement> chosen;
  for (std::size_t band = 0; band < bands.size(); ++band) {
    const std::size_t available = bands[band].size();
    const std::size_t wanted = std::min(available, count * shares[band] / 5);
    for (std::size_t i = 0; i < wanted; ++i) chosen.push_back(*bands[band][i * available / wanted]);
  }
  return chosen;
}

FitResult fit_gemm(const std::vector<GemmMeasurement>& rows, const workloads::GemmMachine& machine,
                   const GemmCoefficients& prior, const FitOptions& options) {
  const auto residuals = [&](const std::vector<double>& values, Eigen::VectorXd& out) {
    const GemmCoefficients coefficients = with_values(prior, values);
    Eigen::Index i = 0;
    for (const GemmMeasurement& row : rows) {
      const double predicted =
          gemm_time(row.gemm, machine, coefficients, workloads::Setting::benchmark).total_s;
      out[i++] = std::log(predicted / row.time_s);
    }
  };
  return fit(gemm_parameters(prior), residuals, static_cast<Eigen::Index>(rows.size()), options);
}

}  // namespace stepsim::calibrate
