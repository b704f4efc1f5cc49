#include "workloads/kernel_sharing.hpp"

#include "workloads/attention_cost.hpp"
#include "workloads/gemm_cost.hpp"
#include "workloads/kernel_cost.hpp"
#include "workloads/kernel_profile.hpp"
#include "workloads/streaming_cost.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <variant>

namespace stepsim::workloads {

namespace {

using Levels = std::set<std::uint32_t>;

constexpr std::size_t most_levels = 64;
/// No collectives of the shipped devices take more of the memory bandwidth than this together.
constexpr std::uint32_t most_memory_thousandths = 900;

Levels thinned(const Levels& levels) {
  if (levels.size() <= most_levels) return levels;
  const std::vector<std::uint32_t> all(levels.begin(), levels.end());
  Levels kept;
  for (std::size_t i = 0; i < most_levels; ++i)
    kept.insert(all[i * (all.size() - 1) / (most_levels - 1)]);
  return kept;
}

/// All sums of one level of each set, or none of it.
std::vector<std::uint32_t> sums(const std::map<std::string, Levels>& of_group) {
  Levels reached = {0};
  for (const auto& [group, levels] : of_group) {
    Levels more = reached;
    for (const std::uint32_t base : reached)
      for (const std::uint32_t level : levels) more.insert(base + level);
    reached = thinned(more);
  }
  reached.erase(0);
  return {reached.begin(), reached.end()};
}

/// What others leave of a device.
struct Left {
  int sms = 0;
  double memory = 1;  // share of the bandwidth
};

/// Time of a kernel, its implementation chosen, on what is left.
using TimeOnRest = std::function<double(const Left&)>;

TimeOnRest on_rest(const KernelCostModel& model, const Gemm& gemm) {
  const GemmTime picked = model.gemm_candidate(gemm);
  return [&model, gemm, picked](const Left& left) {
    GemmMachine machine = model.machine_for(gemm);
    machine.available_sms = left.sms;
    machine.memory_bytes_per_s *= left.memory;
    return gemm_time_with(gemm, machine, model.coefficients_for(gemm), Setting::step, picked.tile,
                          picked.split_k)
        .total_s;
  };
}

TimeOnRest on_rest(const KernelCostModel& model, const Streaming& streaming, int launches) {
  return [&model, streaming, launches](const Left& left) {
    StreamingMachine machine = model.streaming_machine();
    machine.memory_bytes_per_s *= left.memory;
    return streaming_time(streaming, launches, machine, model.coefficients_for(streaming)).total_s;
  };
}

TimeOnRest flash_on_rest(const KernelCostModel& model, const Attention& attention) {
  return [&model, attention](const Left& left) {
    AttentionMachine machine = model.machine_for(attention);
    machine.available_sms = left.sms;
    machine.memory_bytes_per_s *= left.memory;
    return attention_forward_time(attention, machine, model.profile().attention.coefficients,
                                  Setting::step)
        .total_s;
  };
}

TimeOnRest unfused_on_rest(const KernelCostModel& model, const Attention& attention) {
  const UnfusedAttention kernels = unfused(attention);
  std::vector<TimeOnRest> parts = {on_rest(model, kernels.softmax, 1)};
  for (const Gemm& gemm : kernels.gemms) parts.push_back(on_rest(model, gemm));
  return [parts](const Left& left) {
    double sum = 0;
    for (const TimeOnRest& part : parts) sum += part(left);
    return sum;
  };
}

TimeOnRest on_rest(const KernelCostModel& model, const Kernel& kernel) {
  if (const auto* gemm = std::get_if<Gemm>(&kernel.work)) return on_rest(model, *gemm);
  if (const auto* streaming = std::get_if<Streaming>(&kernel.work))
    return on_rest(model, *streaming, kernel.launches);
  const auto& attention = std::get<Attention>(kernel.work);
  return model.attention() == AttentionKernel::unfused ? unfused_on_rest(model, attention)
                                                       : flash_on_rest(model, attention);
}

std::uint32_t speed_of(double alone_s, double beside_s, double contention) {
  const double slowdown = 1 + contention * std::max(0.0, beside_s / alone_s - 1);
  const double speed = sim::SpeedStep::full_speed / slowdown;
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(speed + 0.5));
}

/// Speeds at the levels, never rising; levels that change nothing are left out.
class SpeedTable {
 public:
  void add(std::uint32_t taken, std::uint32_t speed) {
    const std::uint32_t last = steps_.empty() ? sim::SpeedStep::full_speed : steps_.back().speed;
    if (speed < last) steps_.push_back({taken, speed});
  }
  std::vector<sim::SpeedStep> take() { return std::move(steps_); }

 private:
  std::vector<sim::SpeedStep> steps_;
};

}  // namespace

TakenLevels taken_levels(const sim::Job& job) {
  std::map<std::string, Levels> sms;
  std::map<std::string, Levels> memory;
  std::set<std::pair<std::string, std::uint32_t>> seen;
  const auto add = [&](const std::string& group, std::uint32_t row) {
    if (!seen.emplace(group, row).second) return;
    for (const sim::CollectiveCost& cost : job.collective_costs[row]) {
      if (cost.sms > 0) sms[group].insert(cost.sms);
      if (cost.memory_thousandths > 0) memory[group].insert(cost.memory_thousandths);
    }
  };
  for (const sim::Communicator& communicator : job.communicators)
    add(communicator.group, communicator.cost_row);
  for (const sim::Channel& channel : job.channels) add(channel.group, channel.cost_row);
  return {sums(sms), sums(memory)};
}

sim::KernelSharing KernelCostModel::sharing(const Kernel& kernel, const TakenLevels& levels) const {
  const int sms = device_.streaming_multiprocessors.value;
  const TimeOnRest time = on_rest(*this, kernel);
  const double alone_s = time({sms, 1});
  if (!(alone_s > 0)) return {};
  const InterferenceProfile& interference = profile_->interference;
  SpeedTable by_sms;
  for (const std::uint32_t taken : levels.sms) {
    const int left =
        sms - static_cast<int>(std::min<std::uint32_t>(taken, static_cast<std::uint32_t>(sms - 1)));
    by_sms.add(taken, speed_of(alone_s, time({left, 1}),
                               step_.interference * interference.sm_contention.value));
  }
  SpeedTable by_memory;
  for (const std::uint32_t taken : levels.memory_thousandths) {
    const double left = (1000 - std::min(taken, most_memory_thousandths)) / 1000.0;
    by_memory.add(taken, speed_of(alone_s, time({sms, left}),
                                  step_.interference * interference.memory_contention.value));
  }
  return {by_sms.take(), by_memory.take()};
}

}  // namespace stepsim::workloads
