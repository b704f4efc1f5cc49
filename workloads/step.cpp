#include "workloads/step.hpp"

#include "workloads/ddp.hpp"
#include "workloads/fsdp2.hpp"
#include "workloads/megatron_job.hpp"
#include "workloads/port_links.hpp"
#include "workloads/step_costs.hpp"
#include "workloads/step_job.hpp"
#include "workloads/step_modules.hpp"
#include "workloads/uplink_links.hpp"

#include "sim/base/error.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace stepsim::workloads {
namespace {

class ModelledCosts final : public CostSource {
 public:
  explicit ModelledCosts(const StepInput& input)
      : input_(input),
        collectives_(input.software.interference && shares_uplinks(input.cluster)
                         ? input.collectives.with_whole_uplinks()
                         : input.collectives) {}
  sim::KernelCost kernel(const Kernel& kernel) const override {
    return input_.kernels.cost(kernel, input_.speeds);
  }
  sim::CollectiveCost collective(topology::Collective collective, Bytes bytes,
                                 const topology::GroupShape& shape) const override {
    return collectives_.cost(collective, bytes, shape);
  }
  sim::KernelSharing sharing(const Kernel& kernel, const TakenLevels& levels) const override {
    if (!input_.software.interference) return {};
    return input_.kernels.sharing(kernel, levels);
  }

 private:
  const StepInput& input_;
  topology::CollectiveModel collectives_;
};

void check(const StepInput& input) {
  std::vector<Diagnostic> problems;
  const auto require = [&](bool holds, const char* key, const std::string& problem,
                           const char* expected) {
    if (!holds) problems.push_back({{}, key, problem, expected, ""});
  };
  const Plan& plan = input.plan;
  const Training& training = input.training;
  require(plan.shard >= 1 && plan.replicate >= 1, "plan", "a degree below 1",
          "degrees of 1 or more");
  require(plan.strategy == Strategy::fsdp2 || plan.shard == 1, "plan.shard",
          std::string(to_string(plan.strategy)) + " does not shard: " + std::to_string(plan.shard),
          "1");
  require(plan.strategy == Strategy::megatron || plan.tp * plan.pp == 1, "plan",
          "tp or pp without megatron", "strategy megatron");
  require(training.micro_batch >= 1 && training.sequence_length >= 1, "training",
          "no tokens to train on", "a micro-batch and a sequence length of 1 or more");
  require(training.checkpoint_every_n >= 1, "training.activation_checkpointing.n",
          std::to_string(training.checkpoint_every_n), "1 or more");
  if (!problems.empty()) throw InputError(std::move(problems));
  const std::int64_t together = training.micro_batch * replica_count(plan);
  require(training.global_batch >= together && training.global_batch % together == 0,
          "training.global_batch", std::to_string(training.global_batch) + " sequences",
          "a multiple of micro_batch × shard × replicate");
  require(rank_count(plan) <= input.cluster.gpus, "plan",
          std::to_string(rank_count(plan)) + " ranks on " + std::to_string(input.cluster.gpus) +
              " GPUs",
          "degrees that multiply to the GPUs");
  if (!problems.empty()) throw InputError(std::move(problems));
}

/// All parameters of the model, each once, without making a list for every layer.
template <class Visit>
void for_each_parameter(const Model& model, const Visit& visit) {
  for (const Parameter& parameter : embedding_parameters(model)) visit(parameter, 1);
  for (const Parameter& parameter : layer_parameters(model, 0)) visit(parameter, model.layers);
  for (const Parameter& parameter : final_parameters(model)) visit(parameter, 1);
}

/// What the optimizer updates on the rank that holds the most: rank 0, whose shards are whole
/// chunks.
StepModel step_model(const StepInput& input) {
  StepModel model{input.model, input.training, input.software, 0, 0};
  for_each_parameter(input.model, [&](const Parameter& parameter, std::int64_t times) {
    model.optimizer_elements +=
        padded_count(parameter, input.plan.shard) / input.plan.shard * times;
    model.optimizer_tensors += times;
  });
  return model;
}

sim::Program emit(const StepInput& input, const StepWork& work, StepCosts& costs,
                  std::int64_t count, std::vector<std::string>& assumptions) {
  if (input.plan.strategy == Strategy::ddp) {
    const DdpInput ddp{work, input.plan, input.training, count, {}};
    assumptions.push_back("host time of DDP's hooks: " + ddp.host.source.note);
    return emit_ddp(ddp, costs);
  }
  const Fsdp2Input fsdp2{work, input.plan, input.training, count, {}};
  assumptions.push_back("host time of FSDP2's hooks: " + fsdp2.host.source.note);
  return emit_fsdp2(fsdp2, costs);
}

void add_flops(HardwareFlops& sum, const Kernel& kernel) {
  if (std::holds_alternative<Gemm>(kernel.work)) sum.products += flops(kernel);
  const auto* attention = std::get_if<Attention>(&kernel.work);
  if (attention == nullptr) return;
  // The kernel's own backward computes the scores once more: 5 products for the forward's 2.
  const double counted = attention->backward ? 4.0 / 5 : 1;
  sum.causal_attention += flops(kernel) * counted;
  Attention unmasked = *attention;
  unmasked.causal = false;
  sum.full_attention += flops({kernel.name, unmasked, kernel.launches}) * counted;
}

void add_scaled(HardwareFlops& sum, const HardwareFlops& flops, double times) {
  sum.products += flops.products * times;
  sum.full_attention += flops.full_attention * times;
  sum.causal_attention += flops.causal_attention * times;
}

/// The mean over ranks.
HardwareFlops matrix_flops(const sim::Job& job, const StepCosts& costs) {
  std::vector<HardwareFlops> flops_of(job.kernels.size());
  for (std::uint32_t k = 0; k < flops_of.size(); ++k) add_flops(flops_of[k], costs.work_of({k}));
  std::vector<std::int64_t> ranks(job.programs.size(), 0);
  for (const sim::RankSetup& rank : job.ranks) ++ranks[rank.program.index()];
  HardwareFlops sum;
  for (std::size_t p = 0; p < job.programs.size(); ++p) {
    HardwareFlops of_rank;
    for (const sim::Op& op : job.programs[p].ops)
      if (op.kind == sim::OpKind::kernel) add_scaled(of_rank, flops_of[op.target], 1);
    add_scaled(sum, of_rank, static_cast<double>(ranks[p]) / static_cast<double>(job.ranks.size()));
  }
  return sum;
}

enum class MicroBatches { all, distinct };

std::int64_t emitted_micro_batches(const StepInput& input, MicroBatches which) {
  const std::int64_t all = micro_batches(input.plan, input.training);
  if (which == MicroBatches::all) return all;
  return distinct_micro_batches(input.plan, input.training);
}

sim::Job make_megatron_job(const StepInput& input, StepCosts& costs, std::int64_t count,
                           std::vector<std::string>& assumptions) {
  // Memory of a longer step is that of a shorter one.
  const bool is_long = count > distinct_micro_batches(input.plan, input.training);
  const MegatronModel megatron{input.model,
                               input.plan,
                               input.training,
                               input.software,
                               count,
                               is_long ? sim::MemoryOps::left_out : sim::MemoryOps::kept,
                               {}};
  assumptions.push_back("host time of Megatron-LM: " + megatron.host.source.note);
  return assemble_megatron_job(megatron_programs(megatron, costs), input.plan, input.cluster,
                               costs);
}

sim::Job make_job(const StepInput& input, StepCosts& costs, std::int64_t count,
                  std::vector<std::string>& assumptions) {
  if (input.plan.strategy == Strategy::megatron)
    return make_megatron_job(input, costs, count, assumptions);
  const StepWork work = make_step_work(step_model(input), costs);
  return assemble_job(emit(input, work, costs, count, assumptions), input.plan, input.cluster,
                      costs);
}

Step build(const StepInput& input, const CostSource& source, MicroBatches which) {
  check(input);
  Step step;
  StepCosts costs(source);
  step.job = make_job(input, costs, emitted_micro_batches(input, which), step.assumptions);
  if (input.software.interference) {
    share_ports(input.cluster, step.job);
    share_uplinks(input.cluster, step.job);
  }
  step.hardware_flops = matrix_flops(step.job, costs);
  step.assumptions.push_back(
      "gradients are clipped by their global norm, and the optimizer is one fused kernel");
  return step;
}

}  // namespace

double hardware_flops(const HardwareFlops& flops, FlopsConvention convention) {
  switch (convention) {
    case FlopsConvention::full_attention:
      return flops.products + flops.full_attention;
    case FlopsConvention::causal_attention:
      return flops.products + flops.causal_attention;
    case FlopsConvention::six_n:
      return flops.products;
  }
  return flops.products;
}

int replica_count(const Plan& plan) { return plan.shard * plan.replicate; }

int rank_count(const Plan& plan) { return replica_count(plan) * plan.tp * plan.pp; }

std::int64_t micro_batches(const Plan& plan, const Training& training) {
  return training.global_batch / (training.micro_batch * replica_count(plan));
}

std::int64_t distinct_micro_batches(const Plan& plan, const Training& training) {
  constexpr std::int64_t without_pipeline = 3;
  const std::int64_t all = micro_batches(plan, training);
  if (plan.strategy == Strategy::megatron && plan.pp > 1)
    return steady_micro_batches(pipeline_shape(plan, all));
  return std::min(all, without_pipeline);
}

Step build_step(const StepInput& input) {
  return build(input, ModelledCosts(input), MicroBatches::all);
}

Step build_memory_step(const StepInput& input) {
  return build(input, NoCost(), MicroBatches::distinct);
}

}  // namespace stepsim::workloads
