#pragma once

/// How long a matrix multiplication takes: candidate tiles and split-k as a library's heuristic
/// would weigh them, the fastest of which is taken.
///
/// For one candidate (tile bm × bn, k cut in `split`):
///   arithmetic  waves · 2·bm·bn·(k/split + k₀) / (SM peak · efficiency · h/(h + h₀)),
///               h = bm·bn/(bm + bn); k₀ is the pipeline's fill and drain
///   feed        waves · (bm + bn)·(k/split)·element / (L2 to SM bandwidth)
///   memory      HBM bytes / (bandwidth · efficiency). Operands that overflow the L2 are read again
///               by each wave of tiles, a wave covering as square an area as it can
///   time        launch + waves·wave latency + split-k's reduction + p-norm of the three
/// The number of waves lies between the fraction of SMs kept busy and its ceiling: libraries pick
/// persistent and stream-K kernels, so full quantisation would be too much. Long multiplications
/// run at a lower clock (`sustained_slowdown`).
///
/// Only + − × ÷ and square roots enter a time, so results are equal to the bit everywhere.

#include "workloads/kernel.hpp"

#include <cstdint>
#include <vector>

namespace stepsim::workloads {

/// What a matrix multiplication runs on. Rates are the datasheet's.
struct GemmMachine {
  int sms = 0;            // of the device
  int available_sms = 0;  // not held by others; per-SM rates follow from `sms`
  double peak_flops_per_s = 0;
  double memory_bytes_per_s = 0;
  double l2_bytes = 0;
};

struct Tile {
  int m = 0;
  int n = 0;
  friend bool operator==(const Tile&, const Tile&) = default;
};

/// Fitted numbers of one device and number format. Efficiencies are shares of the datasheet's rate
/// and at most 1.
struct GemmCoefficients {
  double launch_s = 3e-6;                 // start to first tile and last tile to end
  double math_efficiency = 0.85;          // of the peak, for a large tile in a long k loop
  double tile_half_size = 8;              // h₀
  double k_fill = 160;                    // k₀, elements
  double feed_bytes_per_s_per_sm = 1e11;  // from L2 into one SM
  double memory_efficiency = 0.8;         // of HBM bandwidth
  double l2_share = 0.5;                  // of the L2, usable for operands within one kernel
  double warm_share = 0.15;               // of the L2, that a benchmark loop finds warm
  double wave_quantisation = 0.2;         // 0: fractional waves, 1: whole waves
  double wave_latency_s = 0.3e-6;         // per wave
  double split_k_s = 2e-6;                // the reduction's own launch and synchronisation
  double sustained_slowdown = 0.1;        // of arithmetic, in multiplications of many milliseconds
  double quantise_start_s = 0;            // fp8 benchmarks: fixed cost of quantising the input
  double quantise_bytes = 0;              // and its traffic per input element
  int math_feed_doublings = 3;            // p = 8 between arithmetic and feed
  int memory_doublings = 2;               // p = 4 between those and memory
  std::vector<Tile> tiles;                // what the library has to choose from
};

/// The tiles libraries ship for every generation; profiles may name others.
const std::vector<Tile>& common_tiles();

/// Where a kernel runs. In a training step its operands come from HBM. A benchmark loop repeats one
/// multiplication: it finds in L2 what fits there, and in fp8 it quantises its input each time (a
/// step has kernels of their own for that).
enum class Setting { step, benchmark };

struct GemmTime {
  double total_s = 0;
  double compute_s = 0;  // arithmetic and its feed from L2
  double memory_s = 0;   // HBM traffic
  double fixed_s = 0;    // launch, wave latency, split-k
  double memory_bytes = 0;
  double waves = 0;
  Tile tile;
  int split_k = 1;
};

/// Time of one candidate.
GemmTime gemm_time_with(const Gemm& gemm, const GemmMachine& machine,
                        const GemmCoefficients& coefficients, Setting setting, Tile tile,
                        int split_k);

/// Time of the fastest candidate; equal times go to the earlier tile and the smaller split.
GemmTime gemm_time(const Gemm& gemm, const GemmMachine& machine,
                   const GemmCoefficients& coefficients, Setting setting);

}  // namespace stepsim::workloads
