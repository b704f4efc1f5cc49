#include "calibrate/kernel_priors.hpp"

#include <utility>

namespace stepsim::calibrate {

namespace {

using topology::Architecture;
using topology::MatrixFormat;
using workloads::AttentionKernel;
using workloads::StreamingKind;

Sourced<double> assumed(double value, std::string note) {
  return {value, {SourceKind::assumed, std::move(note)}};
}

}  // namespace

workloads::GemmCoefficients gemm_prior(Architecture architecture, MatrixFormat format) {
  workloads::GemmCoefficients c;
  c.tiles = workloads::common_tiles();
  c.launch_s = 2.5e-6;
  c.wave_quantisation = 0.1;
  c.tile_half_size = 1;
  switch (architecture) {
    case Architecture::volta:
    case Architecture::ampere:
      c.launch_s = 3.4e-6;
      c.math_efficiency = 0.95;
      c.tile_half_size = 10;
      c.feed_bytes_per_s_per_sm = 50e9;
      c.wave_quantisation = 0.3;
      break;
    case Architecture::hopper:
      c.math_efficiency = 0.87;
      c.feed_bytes_per_s_per_sm = 125e9;
      break;
    case Architecture::blackwell:
      c.math_efficiency = 0.8;
      c.feed_bytes_per_s_per_sm = 185e9;
      break;
  }
  if (format == MatrixFormat::fp8) {
    // The benchmark finds the input's largest value, then scales and casts it: a few small kernels
    // that read bf16 twice and write fp8.
    c.quantise_start_s = 9e-6;
    c.quantise_bytes = 5;
  }
  return c;
}

workloads::AttentionCoefficients attention_prior(Architecture architecture) {
  workloads::AttentionCoefficients c;
  const bool hopper = architecture == Architecture::hopper;
  const bool blackwell = architecture == Architecture::blackwell;
  const double efficiency = hopper ? 0.58 : (blackwell ? 0.54 : 0.48);
  const double narrow = hopper ? 0.79 : (blackwell ? 0.63 : 0.97);
  c.prepare_passes = 2;
  c.head_dims = {{64, efficiency * narrow, false}, {128, efficiency, false}};
  return c;
}

void assume_attention_ratios(Architecture architecture, workloads::AttentionProfile& profile) {
  const bool hopper = architecture == Architecture::hopper;
  const bool blackwell = architecture == Architecture::blackwell;
  profile.backward_ratio[128] =
      blackwell ? assumed(3.5, "cuDNN measures 2.2 to 4.2 on the generation, by shape")
                : assumed(3.0, "cuDNN measures 2.9 to 3.1 at head dimension 128 on H200");
  auto& factor = profile.kernel_factor;
  if (hopper) {
    factor[AttentionKernel::flash1] = assumed(3.0,
                                              "FlashAttention 2's authors report about twice its "
                                              "speed, Triton's of that time lay between");
    factor[AttentionKernel::flash2] = assumed(
        1.75,
        "FlashAttention-3's authors report 1.5 to 2.0 times its speed; 328 TFLOP/s published by "
        "Azure");
    factor[AttentionKernel::flash3] = assumed(1.0, "as the measured TensorRT-LLM kernels");
    factor[AttentionKernel::cudnn] = assumed(0.85, "training runs with it imply 0.75 to 0.92");
  } else if (blackwell) {
    factor[AttentionKernel::flash1] = assumed(4.0, "about twice FlashAttention 2's time");
    factor[AttentionKernel::flash2] =
        assumed(2.2,
                "FlashAttention 2.7 reaches 307 to 381 TFLOP/s at head dimension 64 on B200, a "
                "third to a half of the measured kernels");
    factor[AttentionKernel::flash3] = assumed(2.2, "written for Hopper: falls back on the older");
    factor[AttentionKernel::cudnn] = assumed(1.0, "as the measured TensorRT-LLM kernels");
  } else {
    factor[AttentionKernel::flash1] = assumed(1.5,
                                              "FlashAttention 2's authors report about twice its "
                                              "speed, Triton's of that time lay between");
    factor[AttentionKernel::flash2] = assumed(
        0.85, "180 TFLOP/s published by Azure: 0.71 to 0.81, by whether backward is in it; causal");
    factor[AttentionKernel::flash3] = assumed(0.85, "written for Hopper: falls back on the older");
    factor[AttentionKernel::cudnn] = assumed(1.0, "as the measured TensorRT-LLM kernels");
  }
}

std::map<StreamingKind, workloads::StreamingProfile> streaming_prior() {
  constexpr double start_s = 2e-6;
  std::map<StreamingKind, workloads::StreamingProfile> priors;
  const auto add = [&priors](StreamingKind kind, double efficiency, const char* why) {
    priors[kind].memory_efficiency = assumed(efficiency, why);
    priors[kind].start_s = assumed(start_s, "start and drain of a small kernel");
  };
  add(StreamingKind::elementwise, 0.85, "0.82 to 0.89 measured on A100");
  add(StreamingKind::strided, 0.48,
      "0.43 to 0.54 measured on A100 and H100 (Liger-Kernel's benchmarks of rotary positions and "
      "gates op by op)");
  add(StreamingKind::norm, 0.7, "0.55 to 0.8 measured on A100, H200 and GB200");
  add(StreamingKind::layer_norm, 0.52,
      "0.51 to 0.57 measured on A100 and H100 (Liger-Kernel's benchmarks of PyTorch's)");
  add(StreamingKind::norm_backward, 0.6,
      "0.56 to 0.62 measured on A100, H100 and H200 (Liger-Kernel's benchmarks of PyTorch's, "
      "cuDNN's of torch.compile's)");
  add(StreamingKind::softmax, 0.65, "0.55 to 0.8 measured on A100");
  add(StreamingKind::log_softmax, 0.41,
      "0.40 to 0.42 measured on A100 over 32k to 131k words (Liger-Kernel's benchmarks of "
      "PyTorch's)");
  add(StreamingKind::reduction, 0.8, "between copies and norms");
  add(StreamingKind::copy, 0.85, "0.79 to 0.87 measured on A100, H100 and H200");
  add(StreamingKind::optimizer, 0.8, "large arrays streamed as copies, with more of them at once");
  add(StreamingKind::embedding, 0.25,
      "0.21 to 0.31 measured on A100 over 32k to 131k words (Liger-Kernel's benchmarks of "
      "PyTorch's)");
  return priors;
}

}  // namespace stepsim::calibrate
