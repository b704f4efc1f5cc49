#pragma once

/// How long attention takes.
///
/// Flash kernels, forward: blocks of 128 queries walk over blocks of 128 keys, masked blocks
/// skipped (a causal sequence of n blocks has n(n+1)/2, a window fewer). One SM works one row of
/// blocks at a time, so the longest row is a floor and many rows fill the device:
///   arithmetic  max(longest row, blocks / SMs) · block time + rows a SM · row time,
///               block time = 4·128·128·head_dim / (SM peak · efficiency of the head dimension)
///   memory      Q, K, V and the output once / (bandwidth · efficiency)
///   time        (launch + p-norm of the two) · factor of the kernel generation
/// Backward is a ratio of forward by head dimension. Unfused attention is two batched matrix
/// multiplications (four in backward) and a softmax over scores that go through HBM.

#include "workloads/gemm_cost.hpp"
#include "workloads/kernel.hpp"

#include <cstdint>
#include <vector>

namespace stepsim::workloads {

struct AttentionMachine {
  int sms = 0;
  int available_sms = 0;
  double peak_flops_per_s = 0;
  double memory_bytes_per_s = 0;
};

/// Fitted numbers of one device. `head_dims` holds what was measured, in rising order.
struct AttentionCoefficients {
  struct HeadDim {
    std::int64_t head_dim = 128;
    double efficiency = 0.5;  // of the peak, in the limit of many long rows
    bool measured = false;
  };

  double launch_s = 5e-6;
  double row_s = 1e-6;             // start and end of a row of blocks
  double memory_efficiency = 0.8;  // of HBM bandwidth
  double quantisation = 0.2;       // 0: rows fill the SMs evenly, 1: in whole turns
  double prepare_passes = 0;       // benchmarks: passes over Q, K and V before the kernel proper
  int memory_doublings = 2;        // p = 4 between arithmetic and memory
  std::vector<HeadDim> head_dims{{128, 0.5, false}};
};

struct AttentionTime {
  double total_s = 0;
  double compute_s = 0;
  double memory_s = 0;
  double fixed_s = 0;
  bool head_dim_measured = false;  // false: the nearest head dimension's efficiency was used
};

/// Forward time of the measured kernels. A benchmark includes what the measured call does before:
/// rotating Q and K and writing K and V to a cache, which a step does in kernels of their own.
AttentionTime attention_forward_time(const Attention& attention, const AttentionMachine& machine,
                                     const AttentionCoefficients& coefficients, Setting setting);

/// The efficiency to use for a head dimension: its own where measured, else that of the next larger
/// measured one (kernels pad to it), scaled by the padding; the largest for larger ones.
AttentionCoefficients::HeadDim efficiency_of(const AttentionCoefficients& coefficients,
                                             std::int64_t head_dim);

/// What unfused attention runs: the scores and the weighted values as matrix multiplications, and
/// the softmax with its mask and dropout over every score, masked or not.
struct UnfusedAttention {
  std::vector<Gemm> gemms;
  Streaming softmax;
};
UnfusedAttention unfused(const Attention& attention);

}  // namespace stepsim::workloads
