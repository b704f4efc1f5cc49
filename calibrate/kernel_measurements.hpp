#pragma once

/// Measured kernel times, as public tables give them, and which of them a fit may not see.

#include "workloads/kernel.hpp"

#include <string>
#include <vector>

namespace stepsim::calibrate {

struct GemmMeasurement {
  std::string device;
  workloads::Gemm gemm;
  double time_s = 0;
};

struct AttentionMeasurement {
  std::string device;
  workloads::Attention attention;
  double time_s = 0;
};

/// Columns gpu, dtype, m, n, k, time_us. Throws InputError.
std::vector<GemmMeasurement> read_gemm_measurements(const std::string& file);
/// Columns gpu, dtype, batch, seq_len, q_heads, kv_heads, head_dim, time_us: causal
/// self-attention, forward. Throws InputError.
std::vector<AttentionMeasurement> read_attention_measurements(const std::string& file);

/// One row in five is held out of every fit: those whose shape, written as below, has a 32-bit
/// FNV-1a hash divisible by five. The same shapes are held out for every device and format.
///   gemm       «m,n,k»
///   attention  «batch,seq_len,q_heads,kv_heads,head_dim»
bool held_out(const workloads::Gemm& gemm);
bool held_out(const workloads::Attention& attention);

}  // namespace stepsim::calibrate
