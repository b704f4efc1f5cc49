#include "topology/device.hpp"

#include "topology/profile_file.hpp"

namespace stepsim::topology {

namespace {

constexpr const char* folder = "topology/devices";

void read_peaks(ObjectReader& parent, Device& device) {
  const DocumentNode* block = parent.take_required("peak");
  if (block == nullptr) return;
  ObjectReader reader(*block, parent.path_of("peak"), parent.diagnostics());
  for (const auto& [word, format] : matrix_format_words()) {
    Sourced<FlopRate> rate;
    if (reader.optional(word, rate)) device.peak[format] = rate;
  }
  reader.finish();
}

}  // namespace

const char* to_string(MatrixFormat format) {
  for (const auto& [word, value] : matrix_format_words()) {
    if (value == format) return word.c_str();
  }
  return "unknown";
}

Device load_device(const DataDirectory& data, const std::string& name) {
  const Document document = read_profile(data, folder, name, "device");
  Device device;
  device.file = document.file;
  device.hash = document.hash;
  Diagnostics problems;
  ObjectReader reader(document.root, "", problems);
  reader.required("name", device.name);
  reader.optional("description", device.description);
  reader.required("architecture", device.architecture, architecture_words());
  reader.required("compute_capability", device.compute_capability,
                  Integer{.least = 70, .most = 999});
  reader.required("streaming_multiprocessors", device.streaming_multiprocessors,
                  Integer{.least = 1, .most = 100'000});
  reader.required("memory_nominal", device.memory_nominal);
  reader.required("memory_capacity", device.memory_capacity);
  reader.required("memory_bandwidth", device.memory_bandwidth);
  reader.required("l2_cache", device.l2_cache);
  read_peaks(reader, device);
  reader.required("vector_peak", device.vector_peak);
  reader.required("power", device.power_watts, Power{});
  reader.required("boost_clock", device.boost_clock_hz, Frequency{});
  reader.finish();
  problems.throw_if_any();
  return device;
}

std::vector<std::string> device_names(const DataDirectory& data) {
  return data.names(folder, ".yaml");
}

}  // namespace stepsim::topology
