/// stepsim-fit-kernels: fits the kernel models to public tables and rewrites the profiles.
///
///     stepsim-fit-kernels --gemm gemm.csv --attention attention_forward.csv
///                         --published kernels.csv --data .
///
/// Prints the errors on the rows fitted and on the rows held out. The same input gives the same
/// files.

#include "calibrate/kernel_fit.hpp"
#include "calibrate/kernel_measurements.hpp"
#include "calibrate/kernel_priors.hpp"
#include "calibrate/profile_writer.hpp"
#include "calibrate/published_kernels.hpp"

#include "workloads/kernel_grid.hpp"

#include "topology/device.hpp"

#include "sim/base/data_directory.hpp"
#include "sim/base/error.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <array>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace stepsim;
using namespace stepsim::calibrate;

struct Arguments {
  std::string gemm;
  std::string attention;
  std::string published;
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

/// A device of which only some kernels were published: it inherits the rest.
struct Relative {
  const char* device;
  const char* gpu;  // as the table of published kernels spells it
  const char* base;
};
constexpr std::array<Relative, 2> relatives{
    {{"h200-sxm-141gb", "H200-141GB-SXM", "h100-sxm-80gb"}, {"gb200", "GB200", "b200-sxm-180gb"}}};

/// cuDNN's speed on a relative, over what the base's profile says of the relative.
Sourced<double> cudnn_on(const Relative& relative, const workloads::KernelProfile& base,
                         const PublishedKernels& published, const DataDirectory& data) {
  const workloads::KernelCostModel model(topology::load_device(data, relative.device),
                                         std::make_shared<const workloads::KernelProfile>(base),
                                         workloads::AttentionKernel::flash3);
  return cudnn_factor(published, relative.gpu, model);
}

void write_profile(const Arguments& arguments, const workloads::KernelProfile& profile) {
  for (const auto& [format, gemm] : profile.gemm)
    if (gemm.inherited_from.empty())
      write_whole(arguments.out + '/' + grid_name(profile.device, format),
                  grid_text(gemm.correction));
  write_whole(arguments.out + '/' + profile.device + ".yaml", profile_text(profile));
}

/// The profile of a relative: what was published of it, the rest by name of its base.
workloads::KernelProfile relative_profile(const Relative& relative,
                                          const workloads::KernelProfile& base,
                                          const PublishedKernels& published,
                                          const DataDirectory& data) {
  workloads::KernelProfile profile;
  profile.device = relative.device;
  profile.attention = base.attention;
  profile.attention.inherited_from = relative.base;
  profile.attention.backward_ratio = backward_ratios(published, relative.gpu);
  profile.attention.kernel_factor[workloads::AttentionKernel::cudnn] =
      cudnn_on(relative, base, published, data);
  profile.streaming = streaming_prior();
  use_published_streaming(published, data, relative.device, profile.streaming);
  for (auto& [kind, streaming] : profile.streaming)
    if (streaming.memory_efficiency.source.kind != SourceKind::measured)
      streaming.inherited_from = relative.base;
  return profile;
}

void fit_device(const Arguments& arguments, const std::string& name, const DeviceRows& rows,
                const PublishedKernels& published) {
  const DataDirectory data(arguments.data);
  const topology::Device device = topology::load_device(data, name);
  FitReport report;
  workloads::KernelProfile profile;
  profile.device = name;
  for (const auto& [format, measurements] : rows.gemm)
    profile.gemm[format] = fit_gemm_profile(measurements, device, report);
  profile.attention = fit_attention_profile(rows.attention, device, report);
  profile.streaming = streaming_prior();
  use_published_streaming(published, data, name, profile.streaming);
  for (const Relative& relative : relatives) {
    if (relative.base != name) continue;
    Sourced<double>& cudnn = profile.attention.kernel_factor[workloads::AttentionKernel::cudnn];
    cudnn = cudnn_on(relative, profile, published, data);
    cudnn.source.kind = SourceKind::assumed;
    write_profile(arguments, relative_profile(relative, profile, published, data));
  }
  fmt::print("{}\n{}", name, report.text);
  write_profile(arguments, profile);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Fit kernel profiles to tables of measured times.", "stepsim-fit-kernels");
  app.add_option("--gemm", arguments.gemm, "CSV of measured matrix multiplications")->required();
  app.add_option("--attention", arguments.attention, "CSV of measured attention")->required();
  app.add_option("--published", arguments.published, "CSV of published kernels")->required();
  app.add_option("--data", arguments.data, "folder that holds topology/devices");
  app.add_option("--out", arguments.out, "folder to write profiles to");
  CLI11_PARSE(app, argc, argv);
  try {
    const PublishedKernels published = read_published_kernels(arguments.published);
    for (const auto& [name, rows] : rows_by_device(arguments))
      fit_device(arguments, name, rows, published);
  } catch (const InputError& error) {
    fmt::print(stderr, "stepsim-fit-kernels: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "stepsim-fit-kernels: {}\n", error.what());
    return 3;
  }
  return 0;
}
