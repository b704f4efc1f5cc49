#include "workloads/step_costs.hpp"

#include <tuple>
#include <variant>

namespace stepsim::workloads {
namespace {

auto key(const Gemm& g) {
  return std::tie(g.m, g.n, g.k, g.batch, g.format, g.pass, g.accumulates);
}
auto key(const Attention& a) {
  return std::tie(a.batch, a.query_length, a.key_length, a.heads, a.kv_heads, a.head_dim, a.causal,
                  a.window, a.backward, a.format);
}
auto key(const Streaming& s) { return std::tie(s.kind, s.bytes_read, s.bytes_written, s.flops); }

}  // namespace

Kernel streaming_kernel(const char* name, StreamingKind kind, std::int64_t bytes_read,
                        std::int64_t bytes_written) {
  Streaming work;
  work.kind = kind;
  work.bytes_read = static_cast<double>(bytes_read);
  work.bytes_written = static_cast<double>(bytes_written);
  return {name, work, 1};
}

bool KernelLess::operator()(const Kernel& a, const Kernel& b) const {
  const auto head = [](const Kernel& k) { return std::tuple(k.work.index(), k.launches); };
  if (head(a) != head(b)) return head(a) < head(b);
  if (a.name != b.name) return a.name < b.name;
  return std::visit(
      [&](const auto& work) {
        using Work = std::decay_t<decltype(work)>;
        return key(work) < key(std::get<Work>(b.work));
      },
      a.work);
}

sim::KernelSharing CostSource::sharing(const Kernel&, const TakenLevels&) const { return {}; }

sim::KernelCost NoCost::kernel(const Kernel& kernel) const {
  sim::KernelCost cost;
  cost.name = kernel.name;
  return cost;
}

sim::CollectiveCost NoCost::collective(topology::Collective, Bytes,
                                       const topology::GroupShape&) const {
  return {};
}

sim::KernelId StepCosts::kernel(const Kernel& kernel) {
  const auto [it, is_new] =
      kernel_ids_.try_emplace(kernel, sim::KernelId{std::uint32_t(kernels_.size())});
  if (is_new) {
    kernels_.push_back(source_.kernel(kernel));
    kernel_work_.push_back(kernel);
  }
  return it->second;
}

sim::CollectiveId StepCosts::collective(topology::Collective collective, const std::string& group,
                                        Bytes bytes) {
  const auto [it, is_new] = collective_ids_.try_emplace(
      {group, {collective, bytes.count()}}, sim::CollectiveId{std::uint32_t(collectives_.size())});
  if (is_new) {
    collectives_.push_back({topology::to_string(collective), group, bytes});
    collective_kinds_.push_back(collective);
  }
  return it->second;
}

std::vector<sim::CollectiveCost> StepCosts::collective_row(
    const std::string& group, const topology::GroupShape& shape) const {
  std::vector<sim::CollectiveCost> row(collectives_.size());
  for (std::size_t i = 0; i < row.size(); ++i)
    if (collectives_[i].group == group)
      row[i] = source_.collective(collective_kinds_[i], collectives_[i].bytes, shape);
  return row;
}

void StepCosts::share(const TakenLevels& levels) {
  for (std::size_t i = 0; i < kernels_.size(); ++i)
    kernels_[i].sharing = source_.sharing(kernel_work_[i], levels);
}

}  // namespace stepsim::workloads
