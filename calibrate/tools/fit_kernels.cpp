/// stepsim-fit-kernels: fits the kernel models to public tables and rewrites the profiles.
///
///     stepsim-fit-kernels --gemm gemm.csv --attention attention_forward.csv --data .
///
/// Prints the errors on the rows fitted and on the rows held out. The same input gives the same
/// files.

#include "calibrate/kernel_fit.hpp"
#include "calibrate/kernel_priors.hpp"
#include "calibrate/measurements.hpp"
#include "calibrate/profile_writer.hpp"

#include "workloads/kernel_grid.hpp"

#include "topology/device.hpp"

#include "sim/base/data_directory.hpp"
#include "sim/base/error.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <exception>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace stepsim;
using namespace stepsim::calibrate;

struct Arguments {
  std::string gemm;
  std::string attention;
  std::string data = ".";
  std::string out = "workloads/kernels";
};

struct DeviceRows {
  std::map<topology::MatrixFormat, std::vector<GemmMeasurement>> gemm;
  std::vector<AttentionMeasurement> attention;
};

std::map<std::string, DeviceRows> rows_by_device(const Arguments& arguments) {
  std::map<std::string, DeviceRows> devices;
  for (GemmMeasurement& row : read_gemm_measurements(arguments.gemm))
    devices[row.device].gemm[row.gemm.format].push_back(row);
  for (AttentionMeasurement& row : read_attention_measurements(arguments.attention))
    devices[row.device].attention.push_back(row);
  return devices;
}

void fit_device(const Arguments& arguments, const std::string& name, const DeviceRows& rows) {
  const topology::Device device = topology::load_device(DataDirectory(arguments.data), name);
  FitReport report;
  workloads::KernelProfile profile;
  profile.device = name;
  for (const auto& [format, measurements] : rows.gemm)
    profile.gemm[format] = fit_gemm_profile(measurements, device, report);
  profile.attention = fit_attention_profile(rows.attention, device, report);
  profile.streaming = streaming_prior();
  fmt::print("{}\n{}", name, report.text);
  for (const auto& [format, gemm] : profile.gemm)
    write_whole(arguments.out + '/' + grid_name(name, format), grid_text(gemm.correction));
  write_whole(arguments.out + '/' + name + ".yaml", profile_text(profile));
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Fit kernel profiles to tables of measured times.", "stepsim-fit-kernels");
  app.add_option("--gemm", arguments.gemm, "CSV of measured matrix multiplications")->required();
  app.add_option("--attention", arguments.attention, "CSV of measured attention")->required();
  app.add_option("--data", arguments.data, "folder that holds topology/devices");
  app.add_option("--out", arguments.out, "folder to write profiles to");
  CLI11_PARSE(app, argc, argv);
  try {
    for (const auto& [name, rows] : rows_by_device(arguments)) fit_device(arguments, name, rows);
  } catch (const InputError& error) {
    fmt::print(stderr, "stepsim-fit-kernels: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "stepsim-fit-kernels: {}\n", error.what());
    return 3;
  }
  return 0;
}
