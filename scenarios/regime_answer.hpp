#pragma once

/// What `stepsim clocks` and `stepsim roofline` answer: clocks of a model in a regime and of single
/// products on a device, without a scenario file.

#include "scenarios/step_result.hpp"

#include "workloads/kernel_cost.hpp"
#include "workloads/model.hpp"
#include "workloads/regime.hpp"

#include "topology/device.hpp"

#include "sim/base/data_directory.hpp"
#include "sim/base/units.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stepsim::scenarios {

struct DecodeRequest {
  std::int64_t batch = 1;    // sequences
  std::int64_t context = 0;  // tokens each looks back at
};

struct ClocksRequest {
  std::string model;                    // zoo name, or path of a Hugging Face config.json
  std::string device;                   // name
  std::int64_t tokens = 0;              // 0: 8192, or as many as a model has learned positions for
  std::int64_t sequence_length = 0;     // 0: all tokens are one sequence
  std::optional<DecodeRequest> decode;  // absent: training
  int tensor_parallel = 1;
  int data_parallel = 1;
  std::optional<Bandwidth> data_link;  // of one GPU, each direction; absent: NVLink
  workloads::LaunchMode launch_mode = workloads::LaunchMode::compiled;
};

struct ClocksAnswer {
  ClocksRequest request;  // with the number of tokens filled in
  workloads::Model model;
  topology::Device device;
  workloads::RegimeRates rates;
  workloads::Launches launches;
  workloads::RegimeResult result;
  double weights_bytes = 0;   // of one GPU, in bf16
  double kv_cache_bytes = 0;  // of one GPU; decoding only
  std::vector<ProfileUse> profiles;
  std::vector<std::string> assumptions;
};

/// Throws InputError for a model or device that is not there and for counts that make no sense.
ClocksAnswer answer_clocks(const DataDirectory& data, const ClocksRequest& asked);

struct RooflineRequest {
  std::string device;
  topology::MatrixFormat format = topology::MatrixFormat::bf16;
  std::vector<workloads::Gemm> gemms;  // their format is set from `format`
};

/// One product: what it would take if one clock were all, and what the kernel model says.
struct RooflinePoint {
  workloads::Gemm gemm;
  double flops = 0;
  double bytes = 0;      // each operand moved once
  double intensity = 0;  // flops / bytes
  workloads::RegimeClocks clocks;
  workloads::KernelTime time;
};

struct RooflineAnswer {
  topology::Device device;
  topology::MatrixFormat format;
  workloads::RegimeRates rates;
  double ridge = 0;  // FLOP/B
  double launch_s = 0;
  std::vector<RooflinePoint> points;
  std::vector<ProfileUse> profiles;
  std::vector<std::string> assumptions;
};

/// Throws InputError for a device that is not there, has no such format, or sizes below one.
RooflineAnswer answer_roofline(const DataDirectory& data, const RooflineRequest& request);

}  // namespace stepsim::scenarios
