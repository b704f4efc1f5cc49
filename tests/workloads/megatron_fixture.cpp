#include "tests/workloads/megatron_fixture.hpp"

#include "tests/workloads/fake_step.hpp"

namespace stepsim::workloads::testing {

sim::KernelCost AttentionCosts::kernel(const Kernel& kernel) const {
  sim::KernelCost cost;
  cost.name = kernel.name;
  cost.category = category(kernel);
  if (const auto* attention = std::get_if<Attention>(&kernel.work))
    cost.time = forward * (attention->backward ? 2 : 1);
  return cost;
}

sim::CollectiveCost AttentionCosts::collective(topology::Collective, Bytes,
                                               const topology::GroupShape&) const {
  sim::CollectiveCost cost;
  cost.transfer = collective_time;
  return cost;
}

MegatronCase::MegatronCase() {
  model.name = "small";
  model.layers = 8;
  model.hidden = 512;
  model.heads = model.kv_heads = 8;
  model.head_dim = 64;
  model.ffn = 1536;
  model.vocabulary = 4096;
  plan.strategy = Strategy::megatron;
  training.sequence_length = 256;
  training.checkpoint_early_stop = false;
}

sim::Job MegatronCase::job(const CostSource& source) const {
  StepCosts costs(source);
  MegatronModel input{model, plan, training, software, micro_batches, sim::MemoryOps::kept, {}};
  return assemble_megatron_job(megatron_programs(input, costs), plan, fake_cluster(ranks()), costs);
}

GroupVolume group_volume(const sim::Job& job, std::size_t program, const std::string& group,
                         const std::string& name, const std::string& scope) {
  GroupVolume volume;
  const sim::Program& here = job.programs[program];
  for (const sim::Op& op : here.ops) {
    if (!sim::is_coupling_op(op.kind)) continue;
    const sim::CollectiveSpec& spec = job.collectives[op.target];
    const std::string& where = here.scopes[op.scope.index()];
    if (spec.group != group || spec.name != name || where.find(scope) == std::string::npos)
      continue;
    ++volume.count;
    volume.bytes += spec.bytes;
  }
  return volume;
}

}  // namespace stepsim::workloads::testing
