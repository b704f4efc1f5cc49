#pragma once

/// Kernel times that others published, one a row: what they say of backward attention, of cuDNN's
/// kernels and of the bandwidth that streaming kernels reach.

#include "workloads/kernel_cost.hpp"
#include "workloads/kernel_profile.hpp"

#include "topology/device.hpp"

#include "sim/base/data_directory.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace stepsim::calibrate {

struct PublishedAttention {
  std::string gpu;  // as the table spells it
  workloads::Attention attention;
  double time_s = 0;
};

struct PublishedStreaming {
  std::string gpu;
  std::string kernel;
  std::string implementation;
  std::string source;         // the repository that published it
  std::int64_t elements = 0;  // 0: not stated
  double bytes_per_s = 0;
};

struct PublishedKernels {
  /// cuDNN in bf16, whole sequences without a window, equal head dimensions, not the slower
  /// deterministic variant.
  std::vector<PublishedAttention> attention;
  std::vector<PublishedStreaming> streaming;
};

/// Columns gpu, kernel, implementation, batch, seq_q, seq_kv, heads, kv_heads, head_dim,
/// head_dim_v, causal, rows, cols, dtype, time_ms, GBps, notes. Throws InputError.
PublishedKernels read_published_kernels(const std::string& file);

/// Median of backward over forward time by head dimension, where at least three pairs of rows of a
/// GPU have the same shape.
std::map<std::int64_t, Sourced<double>> backward_ratios(const PublishedKernels& published,
                                                        const std::string& gpu);

/// Median of cuDNN's forward time over what a model says of the measured kernels. Empty note when
/// the GPU has no rows.
Sourced<double> cudnn_factor(const PublishedKernels& published, const std::string& gpu,
                             const workloads::KernelCostModel& model);

/// Replaces assumed shares of bandwidth by published ones, of the device itself (`measured`) or of
/// its nearest relative (`assumed`, saying which).
void use_published_streaming(
    const PublishedKernels& published, const DataDirectory& data, const std::string& device,
    std::map<workloads::StreamingKind, workloads::StreamingProfile>& streaming);

}  // namespace stepsim::calibrate
