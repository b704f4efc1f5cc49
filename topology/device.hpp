#pragma once

/// GPU types as data: capacities and peak rates of one device, each with its source.

#include "sim/base/data_directory.hpp"
#include "sim/base/sourced_number.hpp"
#include "sim/base/units.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace stepsim::topology {

/// NVIDIA's compute capability families, as NCCL's tables are keyed.
enum class Architecture { volta, ampere, hopper, blackwell };

/// Number formats a matrix multiplication can run in.
enum class MatrixFormat { fp32, tf32, fp16, bf16, fp8, fp4 };
const char* to_string(MatrixFormat format);

struct Device {
  std::string name;         // «h100-sxm-80gb»
  std::string description;  // for people
  Architecture architecture = Architecture::hopper;
  int compute_capability = 90;  // 80, 90, 100, …
  Sourced<int> streaming_multiprocessors;
  Sourced<Bytes> memory_nominal;   // what the datasheet prints (80 GB)
  Sourced<Bytes> memory_capacity;  // what the driver reports (79.15 GiB): capacity for `fits`
  Sourced<Bandwidth> memory_bandwidth;
  Sourced<Bytes> l2_cache;
  std::map<MatrixFormat, Sourced<FlopRate>> peak;  // dense tensor-core peak
  Sourced<FlopRate> vector_peak;                   // fp32 outside the tensor cores
  Sourced<double> power_watts;
  Sourced<double> boost_clock_hz;
  std::string file;  // where it was read from
  std::string hash;  // of the file's bytes: printed with every result
};

/// Reads topology/devices/NAME.yaml. Throws InputError naming the nearest device when there is
/// none.
Device load_device(const DataDirectory& data, const std::string& name);
std::vector<std::string> device_names(const DataDirectory& data);

}  // namespace stepsim::topology
