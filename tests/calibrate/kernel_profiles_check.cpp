// Holds the committed kernel profiles against the measurements they were fitted to: on the rows
// that were held out they must reach the errors they state, and those must stay within limits.
//   kernel_profiles_check FOLDER     FOLDER holds gemm.csv and attention_forward.csv; without it
//   the
//                                    program says so and returns 77

#include "calibrate/error_bands.hpp"
#include "calibrate/kernel_measurements.hpp"

#include "workloads/kernel_cost.hpp"
#include "workloads/kernel_profile.hpp"

#include <fmt/format.h>

#include <cmath>
#include <exception>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

using namespace stepsim;
using namespace stepsim::calibrate;
using namespace stepsim::workloads;

namespace {

// Means that a fit must reach on rows it has not seen. The reasons are in docs/kernel-costs.md.
const std::map<std::string, double> gemm_limits{
    {"m,n,k >= 1024", 0.045}, {"m >= 128", 0.055}, {"m < 128", 0.06}};
constexpr double attention_limit = 0.09;
// Profiles state four digits.
constexpr double rounding = 2e-4;

int failures = 0;

void check(bool holds, const std::string& what) {
  if (holds) return;
  ++failures;
  fmt::print("FAILED: {}\n", what);
}

void compare(const std::string& name, const std::vector<FitError>& stated,
             const std::vector<FitError>& reached) {
  fmt::print("{}\n{}", name, format_errors(reached));
  check(stated.size() == reached.size(), name + ": other bands than stated");
  for (std::size_t i = 0; i < std::min(stated.size(), reached.size()); ++i) {
    check(stated[i].band == reached[i].band && stated[i].count == reached[i].count,
          name + ": other rows than stated in " + stated[i].band);
    check(std::abs(stated[i].mean - reached[i].mean) < rounding,
          fmt::format("{}, {}: states {:.4f}, reaches {:.4f}", name, stated[i].band, stated[i].mean,
                      reached[i].mean));
  }
}

void check_gemms(const KernelCostModel& model, const std::string& folder) {
  std::map<topology::MatrixFormat, std::vector<GemmMeasurement>> unseen;
  for (const GemmMeasurement& row : read_gemm_measurements(folder + "/gemm.csv"))
    if (row.device == model.device().name && held_out(row.gemm))
      unseen[row.gemm.format].push_back(row);
  check(!unseen.empty(), model.device().name + ": no measurements");
  for (const auto& [format, rows] : unseen) {
    const auto reached = gemm_errors(rows, [&model](const Gemm& gemm) {
      return model.time(Kernel{"gemm", gemm, 1}, Setting::benchmark).total_s;
    });
    const std::string name = model.device().name + " gemm " + topology::to_string(format);
    compare(name, model.profile().gemm.at(format).held_out, reached);
    for (const FitError& error : reached) {
      const auto limit = gemm_limits.find(error.band);
      if (limit != gemm_limits.end())
        check(error.mean <= limit->second, name + ", " + error.band + ": above its limit");
    }
  }
}

void check_attention(const KernelCostModel& model, const std::string& folder) {
  std::vector<AttentionMeasurement> unseen;
  for (const AttentionMeasurement& row :
       read_attention_measurements(folder + "/attention_forward.csv"))
    if (row.device == model.device().name && held_out(row.attention)) unseen.push_back(row);
  const auto reached = attention_errors(unseen, [&model](const Attention& attention) {
    return model.time(Kernel{"attention", attention, 1}, Setting::benchmark).total_s;
  });
  const std::string name = model.device().name + " attention";
  compare(name, model.profile().attention.held_out, reached);
  check(!reached.empty() && reached.front().mean <= attention_limit, name + ": above its limit");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "";
  if (!std::filesystem::exists(folder + "/gemm.csv")) {
    fmt::print("skipped: there is no {}/gemm.csv\n", folder);
    return 77;
  }
  try {
    const DataDirectory data = DataDirectory::find();
    for (const char* name : {"a100-sxm-80gb", "h100-sxm-80gb", "b200-sxm-180gb"}) {
      const KernelCostModel model(data, topology::load_device(data, name));
      check_gemms(model, folder);
      check_attention(model, folder);
    }
  } catch (const std::exception& error) {
    fmt::print("FAILED: {}\n", error.what());
    return 1;
  }
  return failures == 0 ? 0 : 1;
}
