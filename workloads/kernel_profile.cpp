#include "workloads/kernel_profile.hpp"

#include <iterator>
#include <utility>

namespace stepsim::workloads {

namespace {

using topology::Architecture;
using topology::MatrixFormat;

Source assumed(std::string note) { return {SourceKind::assumed, std::move(note)}; }

GemmCoefficients typical_gemm(Architecture architecture) {
  GemmCoefficients c;
  c.tiles = common_tiles();
  switch (architecture) {
    case Architecture::volta:
    case Architecture::ampere:
      c.launch_s = 3.4e-6;
      c.math_efficiency = 0.95;
      c.tile_half_size = 10;
      c.feed_bytes_per_s_per_sm = 51e9;
      c.wave_quantisation = 0.3;
      break;
    case Architecture::hopper:
      c.launch_s = 2.3e-6;
      c.math_efficiency = 0.87;
      c.tile_half_size = 1;
      c.feed_bytes_per_s_per_sm = 125e9;
      c.wave_quantisation = 0.1;
      break;
    case Architecture::blackwell:
      c.launch_s = 2.1e-6;
      c.math_efficiency = 0.8;
      c.tile_half_size = 1;
      c.feed_bytes_per_s_per_sm = 185e9;
      c.wave_quantisation = 0.15;
      break;
  }
  return c;
}

AttentionProfile typical_attention(Architecture architecture) {
  AttentionProfile profile;
  profile.source = assumed("efficiency of a generation's fused kernels, rounded");
  const bool hopper = architecture == Architecture::hopper;
  const bool blackwell = architecture == Architecture::blackwell;
  const double efficiency = hopper ? 0.58 : (blackwell ? 0.54 : 0.48);
  profile.coefficients.head_dims = {{64, efficiency * (blackwell ? 0.63 : (hopper ? 0.79 : 1.0))},
                                    {128, efficiency},
                                    {256, efficiency}};
  const double backward = blackwell ? 3.5 : 3.0;
  profile.backward_ratio[128] = {backward, assumed("cuDNN's ratio on neighbouring devices")};
  // FlashAttention-3's authors report 1.5 to 2.0 times FlashAttention-2's forward speed on H100.
  profile.kernel_factor[AttentionKernel::flash2] = {
      hopper ? 1.75 : (blackwell ? 2.5 : 1.25),
      assumed("kernels written for an older generation, or less tuned than the measured ones")};
  profile.kernel_factor[AttentionKernel::flash3] = {blackwell ? 2.5 : 1.0,
                                                    assumed("equal to the measured kernels")};
  profile.kernel_factor[AttentionKernel::cudnn] = {hopper ? 0.85 : 1.0,
                                                   assumed("0.75 to 0.92 seen in training runs")};
  return profile;
}

}  // namespace

const Sourced<double>& backward_ratio(const AttentionProfile& profile, std::int64_t head_dim) {
  auto after = profile.backward_ratio.upper_bound(head_dim);
  if (after == profile.backward_ratio.begin()) return after->second;
  return std::prev(after)->second;
}

KernelProfile typical_profile(Architecture architecture) {
  KernelProfile profile;
  GemmProfile gemm;
  gemm.coefficients = typical_gemm(architecture);
  gemm.source = assumed("efficiencies typical of the generation, rounded");
  profile.gemm[MatrixFormat::bf16] = gemm;
  profile.attention = typical_attention(architecture);
  const auto streaming = [&profile](StreamingKind kind, double efficiency) {
    profile.streaming[kind] = {{efficiency, 2e-6},
                               assumed("shares of bandwidth measured on neighbouring devices")};
  };
  streaming(StreamingKind::elementwise, 0.85);
  streaming(StreamingKind::norm, 0.7);
  streaming(StreamingKind::norm_backward, 0.4);
  streaming(StreamingKind::softmax, 0.7);
  streaming(StreamingKind::reduction, 0.8);
  streaming(StreamingKind::copy, 0.85);
  streaming(StreamingKind::optimizer, 0.8);
  streaming(StreamingKind::embedding, 0.6);
  return profile;
}

}  // namespace stepsim::workloads
