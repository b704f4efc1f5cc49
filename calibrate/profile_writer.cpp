#include "calibrate/profile_writer.hpp"

#include "sim/base/error.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <system_error>

namespace stepsim::calibrate {

namespace {

using workloads::FitError;
using workloads::KernelProfile;
using workloads::StreamingKind;

std::string microseconds(double seconds) { return rounded(seconds * 1e6) + " us"; }

std::string source_of(const Source& source) {
  return fmt::format("source: {}, note: \"{}\"", to_string(source.kind), source.note);
}

std::string word(StreamingKind kind) {
  std::string text = to_string(kind);
  for (char& c : text)
    if (c == ' ') c = '_';
  return text;
}

void append_source(std::string& text, const std::string& indent, const Source& source) {
  text += fmt::format("{}source: {}\n{}note: \"{}\"\n", indent, to_string(source.kind), indent,
                      source.note);
}

void append_errors(std::string& text, const std::string& indent,
                   const std::vector<FitError>& errors) {
  if (errors.empty()) return;
  text += indent + "held_out:  # absolute relative errors\n";
  for (const FitError& e : errors)
    text +=
        fmt::format("{}  - {{ band: \"{}\", count: {}, mean: {}, median: {}, p95: {} }}\n", indent,
                    e.band, e.count, rounded(e.mean), rounded(e.median), rounded(e.percentile_95));
}

void append_gemm(std::string& text, const std::string& format, const std::string& grid_name,
                 const workloads::GemmProfile& profile) {
  const auto& c = profile.coefficients;
  text += "  " + format + ":\n";
  append_source(text, "    ", profile.source);
  const auto line = [&text](const char* key, const std::string& value) {
    text += fmt::format("    {}: {}\n", key, value);
  };
  line("launch", microseconds(c.launch_s));
  line("math_efficiency", rounded(c.math_efficiency));
  line("tile_half_size", rounded(c.tile_half_size));
  line("k_fill", rounded(c.k_fill));
  line("feed", rounded(c.feed_bytes_per_s_per_sm * 1e-9) + " GB/s");
  line("memory_efficiency", rounded(c.memory_efficiency));
  line("l2_share", rounded(c.l2_share));
  line("warm_share", rounded(c.warm_share));
  line("wave_quantisation", rounded(c.wave_quantisation));
  line("wave_latency", microseconds(c.wave_latency_s));
  line("split_k", microseconds(c.split_k_s));
  line("sustained_slowdown", rounded(c.sustained_slowdown));
  if (c.quantise_bytes > 0) {
    line("quantise_start", microseconds(c.quantise_start_s));
    line("quantise_bytes", rounded(c.quantise_bytes));
  }
  append_errors(text, "    ", profile.held_out);
  if (!profile.correction.empty())
    line("correction", grid_name + "  # percent that measured times lie above the model's");
}

void append_attention(std::string& text, const workloads::AttentionProfile& profile) {
  const auto& c = profile.coefficients;
  text += "\nattention:\n";
  if (profile.inherited_from.empty()) {
    text += "  forward:\n";
    append_source(text, "    ", profile.source);
    text += fmt::format("    launch: {}\n    row: {}\n", microseconds(c.launch_s),
                        microseconds(c.row_s));
    text += fmt::format("    memory_efficiency: {}\n    quantisation: {}\n    prepare_passes: {}\n",
                        rounded(c.memory_efficiency), rounded(c.quantisation),
                        rounded(c.prepare_passes));
    text += "    head_dims:\n";
    for (const auto& entry : c.head_dims) {
      const Source source = entry.measured
                                ? Source{SourceKind::fitted, "with the rest of this block"}
                                : Source{SourceKind::assumed, "no rows of this head dimension"};
      text += fmt::format("      - {{ head_dim: {}, efficiency: {}, {} }}\n", entry.head_dim,
                          rounded(entry.efficiency), source_of(source));
    }
    append_errors(text, "    ", profile.held_out);
  }
  text += "  backward:  # time over forward's\n";
  for (const auto& [head_dim, ratio] : profile.backward_ratio)
    text += fmt::format("    - {{ head_dim: {}, ratio: {}, {} }}\n", head_dim, rounded(ratio.value),
                        source_of(ratio.source));
  text += "  kernels:  # time over that of the measured kernels\n";
  for (const auto& [kernel, factor] : profile.kernel_factor)
    text += fmt::format("    {}: {{ value: {}, {} }}\n", to_string(kernel), rounded(factor.value),
                        source_of(factor.source));
}

void append_streaming(std::string& text, const KernelProfile& profile) {
  bool first = true;
  for (const auto& [kind, numbers] : profile.streaming) {
    if (!numbers.inherited_from.empty()) continue;
    if (first) text += "\nstreaming:  # shares of HBM bandwidth\n";
    first = false;
    text += fmt::format("  {}:\n", word(kind));
    text += fmt::format("    efficiency: {{ value: {}, {} }}\n",
                        rounded(numbers.memory_efficiency.value),
                        source_of(numbers.memory_efficiency.source));
    text += fmt::format("    start: {{ value: {}, {} }}\n", microseconds(numbers.start_s.value),
                        source_of(numbers.start_s.source));
  }
}

void append_interference(std::string& text, const workloads::InterferenceProfile& interference) {
  const auto line = [&text](const char* key, const Sourced<double>& factor) {
    text += fmt::format("  {}: {{ value: {}, {} }}\n", key, rounded(factor.value),
                        source_of(factor.source));
  };
  text +=
      "\ninterference:  # of the time that collectives beside a kernel add to it by its model\n";
  line("sm_contention", interference.sm_contention);
  line("memory_contention", interference.memory_contention);
}

}  // namespace

std::string rounded(double value) { return fmt::format("{:.4g}", value); }

std::string grid_name(const std::string& device, topology::MatrixFormat format) {
  return device + '.' + topology::to_string(format) + ".csv";
}

std::string profile_text(const KernelProfile& profile) {
  std::string text = fmt::format(
      "# How long kernels take on {}. Written by stepsim-fit-kernels; docs/kernel-costs.md\n"
      "# says what each number means.\ndevice: {}\n",
      profile.device, profile.device);
  if (!profile.attention.inherited_from.empty())
    text += "inherits: " + profile.attention.inherited_from + "\n";
  bool first = true;
  for (const auto& [format, gemm] : profile.gemm) {
    if (!gemm.inherited_from.empty()) continue;
    if (first) text += "\ngemm:\n";
    first = false;
    append_gemm(text, topology::to_string(format), grid_name(profile.device, format), gemm);
  }
  append_attention(text, profile.attention);
  append_streaming(text, profile);
  if (profile.attention.inherited_from.empty()) append_interference(text, profile.interference);
  return text;
}

void write_whole(const std::string& file, const std::string& text) {
  const std::string temporary = file + ".partial";
  std::ofstream stream(temporary, std::ios::binary | std::ios::trunc);
  stream << text;
  stream.close();
  if (!stream || std::rename(temporary.c_str(), file.c_str()) != 0) {
    std::remove(temporary.c_str());
    throw InputError(Diagnostic{{file}, "", "cannot be written", "a writable folder", ""});
  }
}

}  // namespace stepsim::calibrate
