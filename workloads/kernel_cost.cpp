#include "workloads/kernel_cost.hpp"

#include "workloads/kernel_profile.hpp"

#include "sim/base/error.hpp"

#include <algorithm>
#include <utility>

namespace stepsim::workloads {

namespace {

using topology::MatrixFormat;

/// The profile's numbers for a format, or those of the format whose kernels are most alike.
struct ChosenGemm {
  const GemmProfile& profile;
  bool own = true;
};

ChosenGemm choose(const KernelProfile& profile, MatrixFormat format) {
  const auto own = profile.gemm.find(format);
  if (own != profile.gemm.end()) return {own->second, true};
  const auto fp8 = profile.gemm.find(MatrixFormat::fp8);
  if (format == MatrixFormat::fp4 && fp8 != profile.gemm.end()) return {fp8->second, false};
  // fp16 runs the same instructions as bf16 at the same rate.
  return {profile.gemm.at(MatrixFormat::bf16), format == MatrixFormat::fp16};
}

void merge(KernelTime& into, const KernelTime& part) {
  into.total_s += part.total_s;
  into.compute_s += part.compute_s;
  into.memory_s += part.memory_s;
  into.fixed_s += part.fixed_s;
  into.assumed = into.assumed || part.assumed;
  if (into.source.empty()) into.source = part.source;
}

void scale(KernelTime& time, double factor) {
  time.total_s *= factor;
  time.compute_s *= factor;
  time.memory_s *= factor;
  time.fixed_s *= factor;
}

std::string describe(const Source& source, const std::string& inherited_from) {
  std::string text = std::string(to_string(source.kind)) + ": " + source.note;
  if (!inherited_from.empty()) text += ", on " + inherited_from;
  return text;
}

}  // namespace

KernelCostModel::KernelCostModel(const DataDirectory& data, const topology::Device& device,
                                 AttentionKernel attention, const StepCoefficients& step)
    : KernelCostModel(device,
                      std::make_shared<const KernelProfile>(load_kernel_profile(data, device)),
                      attention, step) {}

KernelCostModel::KernelCostModel(topology::Device device,
                                 std::shared_ptr<const KernelProfile> profile,
                                 AttentionKernel attention, const StepCoefficients& step)
    : device_(std::move(device)),
      profile_(std::move(profile)),
      attention_(attention),
      step_(step) {}

KernelCostModel::~KernelCostModel() = default;

double KernelCostModel::peak(MatrixFormat format) const {
  const auto found = device_.peak.find(format);
  if (found != device_.peak.end()) return found->second.value.flops_per_second();
  if (format == MatrixFormat::fp32) return device_.vector_peak.value.flops_per_second();
  throw InputError(
      Diagnostic{{device_.file},
                 "peak",
                 device_.name + " has no " + topology::to_string(format) + " matrix arithmetic",
                 "a number format the device computes in",
                 ""});
}

GemmMachine KernelCostModel::machine_for(const Gemm& gemm) const {
  const int sms = device_.streaming_multiprocessors.value;
  return {sms, sms, peak(gemm.format) * step_.clock_share,
          device_.memory_bandwidth.value.bytes_per_second(),
          static_cast<double>(device_.l2_cache.value.count())};
}

AttentionMachine KernelCostModel::machine_for(const Attention& attention) const {
  const int sms = device_.streaming_multiprocessors.value;
  return {sms, sms, peak(attention.format) * step_.clock_share,
          device_.memory_bandwidth.value.bytes_per_second()};
}

StreamingMachine KernelCostModel::streaming_machine() const {
  return {device_.memory_bandwidth.value.bytes_per_second(),
          device_.vector_peak.value.flops_per_second()};
}

const GemmCoefficients& KernelCostModel::coefficients_for(const Gemm& gemm) const {
  return choose(*profile_, gemm.format).profile.coefficients;
}

const StreamingProfile& KernelCostModel::streaming_profile(StreamingKind kind) const {
  const auto found = profile_->streaming.find(kind);
  return found != profile_->streaming.end() ? found->second
                                            : profile_->streaming.at(StreamingKind::elementwise);
}

StreamingCoefficients KernelCostModel::coefficients_for(const Streaming& streaming) const {
  return streaming_profile(streaming.kind).coefficients();
}

GemmTime KernelCostModel::gemm_candidate(const Gemm& gemm, Setting setting) const {
  return gemm_time(gemm, machine_for(gemm), coefficients_for(gemm), setting);
}

KernelTime KernelCostModel::time_of(const Gemm& gemm, Setting setting) const {
  const ChosenGemm chosen = choose(*profile_, gemm.format);
  const GemmMachine machine = machine_for(gemm);
  const GemmTime best = gemm_time(gemm, machine, chosen.profile.coefficients, setting);
  KernelTime time{best.total_s, best.compute_s, best.memory_s, best.fixed_s, false, ""};
  // A batch fills the device as so many more rows would.
  scale(time, chosen.profile.correction.factor(gemm.m * gemm.batch, gemm.n, gemm.k));
  if (setting == Setting::step) scale(time, step_.gemm_time);
  // However the table bends the model, nothing beats the datasheet.
  const Kernel kernel{"", gemm, 1};
  const double least_compute_s = flops(kernel) / machine.peak_flops_per_s;
  const double least_memory_s =
      setting == Setting::step ? minimum_bytes(kernel) / machine.memory_bytes_per_s : 0;
  time.total_s = std::max({time.total_s, least_compute_s, least_memory_s});
  time.assumed = !chosen.profile.inherited_from.empty() || !chosen.own ||
                 chosen.profile.source.kind == SourceKind::assumed;
  time.source = describe(chosen.profile.source, chosen.profile.inherited_from);
  return time;
}

KernelTime KernelCostModel::flash_time(const Attention& attention, Setting setting) const {
  const AttentionProfile& profile = profile_->attention;
  const AttentionTime forward =
      attention_forward_time(attention, machine_for(attention), profile.coefficients, setting);
  KernelTime time{forward.total_s, forward.compute_s, forward.memory_s, forward.fixed_s, false, ""};
  time.assumed = !profile.inherited_from.empty() || !forward.head_dim_measured ||
                 profile.source.kind == SourceKind::assumed;
  time.source = describe(profile.source, profile.inherited_from);
  if (attention.backward) {
    const Sourced<double>& ratio = backward_ratio(profile, attention.head_dim);
    scale(time, ratio.value);
    time.assumed = time.assumed || ratio.source.kind == SourceKind::assumed;
  }
  if (setting == Setting::benchmark) return time;
  scale(time, attention_factor() * step_.attention_time);
  const auto factor = profile.kernel_factor.find(attention_);
  time.assumed = time.assumed || factor == profile.kernel_factor.end() ||
                 factor->second.source.kind == SourceKind::assumed;
  return time;
}

double KernelCostModel::attention_factor() const {
  const auto& factors = profile_->attention.kernel_factor;
  const auto factor = factors.find(attention_);
  return factor == factors.end() ? 1 : factor->second.value;
}

KernelTime KernelCostModel::unfused_time(const Attention& attention) const {
  const UnfusedAttention kernels = unfused(attention);
  KernelTime time;
  for (const Gemm& gemm : kernels.gemms) merge(time, time_of(gemm, Setting::step));
  merge(time, time_of(kernels.softmax, 1, Setting::step));
  return time;
}

KernelTime KernelCostModel::time_of(const Attention& attention, Setting setting) const {
  return attention_ == AttentionKernel::unfused ? unfused_time(attention)
                                                : flash_time(attention, setting);
}

KernelTime KernelCostModel::time_of(const Streaming& streaming, int launches,
                                    Setting setting) const {
  const StreamingProfile& profile = streaming_profile(streaming.kind);
  const StreamingTime parts =
      streaming_time(streaming, launches, streaming_machine(), profile.coefficients());
  KernelTime time{parts.total_s,
                  parts.compute_s,
                  parts.memory_s,
                  parts.fixed_s,
                  !profile.inherited_from.empty() ||
                      profile_->streaming.count(streaming.kind) == 0 ||
                      profile.memory_efficiency.source.kind == SourceKind::assumed,
                  describe(profile.memory_efficiency.source, profile.inherited_from)};
  if (setting == Setting::step) scale(time, step_.memory_time);
  return time;
}

KernelTime KernelCostModel::time(const Kernel& kernel, Setting setting) const {
  if (const auto* gemm = std::get_if<Gemm>(&kernel.work)) return time_of(*gemm, setting);
  if (const auto* attention = std::get_if<Attention>(&kernel.work))
    return time_of(*attention, setting);
  return time_of(std::get<Streaming>(kernel.work), kernel.launches, setting);
}

sim::KernelCost KernelCostModel::cost(const Kernel& kernel) const { return cost(kernel, {}); }

sim::KernelCost KernelCostModel::cost(const Kernel& kernel, const ClockSpeeds& speeds) const {
  KernelTime time = this->time(kernel);
  const double slower_s = std::max(time.compute_s, time.memory_s);
  time.compute_s /= speeds.compute;
  time.memory_s /= speeds.memory;
  const double now_slower_s = std::max(time.compute_s, time.memory_s);
  if (now_slower_s < slower_s && time.total_s > time.fixed_s)
    time.total_s = time.fixed_s + (time.total_s - time.fixed_s) * (now_slower_s / slower_s);
  sim::KernelCost cost;
  cost.name = kernel.name;
  cost.category = category(kernel);
  cost.time = Time::from_seconds(time.total_s);
  cost.fixed = std::min(Time::from_seconds(time.fixed_s), cost.time);
  cost.clock = time.compute_s >= time.memory_s ? sim::Clock::compute : sim::Clock::memory;
  if (time.fixed_s > std::max(time.compute_s, time.memory_s)) cost.clock = sim::Clock::overhead;
  cost.assumed = time.assumed;
  return cost;
}

}  // namespace stepsim::workloads
