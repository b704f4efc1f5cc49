#include "workloads/megatron_job.hpp"

#include "workloads/rank_grid.hpp"
#include "workloads/stage_layout.hpp"
#include "workloads/step_modules.hpp"
#include "workloads/tensor_slice.hpp"

#include "sim/base/error.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace stepsim::workloads {
namespace {

/// Zero-bubble schedules compute weight gradients apart.
bool delays_weight_gradients(PipelineSchedule schedule) {
  switch (schedule) {
    case PipelineSchedule::zb1p:
    case PipelineSchedule::zbv:
    case PipelineSchedule::dualpipe:
    case PipelineSchedule::dualpipev:
      return true;
    default:
      return false;
  }
}

class ProgramMaker {
 public:
  ProgramMaker(const MegatronModel& input, StepCosts& costs)
      : input_(input),
        costs_(costs),
        slice_(tensor_slice(input.model, input.plan.tp)),
        training_(input.training),
        shape_(pipeline_shape(input.plan, input.micro_batches)),
        contents_(stage_contents(input.plan, input.model.layers)) {
    // Megatron-LM runs a recomputed block to its end.
    training_.checkpoint_early_stop = false;
  }

  std::vector<StageProgram> run() {
    std::vector<StageProgram> stages;
    for (int rank = 0; rank < shape_.ranks; ++rank) stages.push_back(stage(rank));
    return stages;
  }

 private:
  StageProgram stage(int rank) {
    StepModel model{slice_, training_, input_.software, 0, 0};
    model.chunks = chunks_of(rank);
    model.megatron = StepModel::Megatron{{input_.plan.tp, input_.plan.sequence_parallel},
                                         delays_weight_gradients(shape_.schedule),
                                         input_.host.collective};
    count_optimizer(model);
    const StepWork work = make_step_work(model, costs_);
    const MegatronStage here{work,
                             input_.plan,
                             training_,
                             shape_,
                             rank,
                             boundary_bytes(input_.model, input_.plan, training_),
                             ties_embedding(rank),
                             input_.memory_ops,
                             input_.host};
    return emit_megatron(here, costs_);
  }

  std::vector<StageContent> chunks_of(int rank) const {
    std::vector<StageContent> chunks;
    for (int chunk = 0; chunk < chunks_per_rank(shape_); ++chunk)
      chunks.push_back(contents_[static_cast<std::size_t>(stage_of(shape_, rank, chunk))]);
    return chunks;
  }

  /// Parameters of the rank, each once; a tied table of two of its chunks counts once.
  void count_optimizer(StepModel& model) const {
    std::map<std::string, std::int64_t> counts;
    const auto add = [&](const std::vector<Parameter>& parameters) {
      for (const Parameter& parameter : parameters) counts[parameter.name] = parameter.count();
    };
    for (const StageContent& content : model.chunks) {
      if (content.embedding) add(embedding_parameters(slice_));
      for (std::int64_t i = 0; i < content.layers; ++i)
        add(layer_parameters(slice_, content.first_layer + i));
      if (content.head) add(head_parameters(slice_));
    }
    const int cut = input_.plan.distributed_optimizer ? gradient_group_size(input_.plan) : 1;
    for (const auto& [name, count] : counts) model.optimizer_elements += count;
    model.optimizer_elements = (model.optimizer_elements + cut - 1) / cut;
    model.optimizer_tensors = static_cast<std::int64_t>(counts.size());
  }

  /// Whether the rank shares the word embedding with another one along the pipeline.
  bool ties_embedding(int rank) const {
    if (!input_.model.tied_embeddings) return false;
    const int first = place_of(shape_, 0, 0).rank;
    const int last = place_of(shape_, stage_count(shape_) - 1, 0).rank;
    if (first == last || shape_.schedule == PipelineSchedule::dualpipe) return false;
    return rank == first || rank == last;
  }

  const MegatronModel& input_;
  StepCosts& costs_;
  Model slice_;
  Training training_;
  PipelineShape shape_;
  std::vector<StageContent> contents_;
};

class JobMaker {
 public:
  JobMaker(std::vector<StageProgram> stages, const Plan& plan, const topology::Cluster& cluster,
           StepCosts& costs)
      : stages_(std::move(stages)), plan_(plan), cluster_(cluster), costs_(costs), grid_(plan) {}

  sim::Job run() {
    add_ranks();
    for (const char* group : {"tensor", "data", "embedding", "gradient_norm"}) add_group(group);
    add_channels();
    for (StageProgram& stage : stages_) job_.programs.push_back(std::move(stage.program));
    job_.collectives = costs_.collective_specs();
    costs_.share(taken_levels(job_));
    job_.kernels = costs_.take_kernels();
    return std::move(job_);
  }

 private:
  const StageProgram& stage_at(const GridPlace& place) const {
    return stages_[static_cast<std::size_t>(place.pipeline)];
  }

  void add_ranks() {
    for (int r = 0; r < grid_.ranks(); ++r) {
      const GridPlace place = grid_.place(rank(r));
      sim::RankSetup setup;
      setup.program = {static_cast<std::uint32_t>(place.pipeline)};
      setup.bindings.resize(stage_at(place).slots.size());
      job_.ranks.push_back(std::move(setup));
    }
  }

  static sim::Rank rank(int number) { return {static_cast<std::uint32_t>(number)}; }

  /// Places of ranks that are in one group, with what may differ within the group left out.
  using GroupKey = std::tuple<int, int, int>;
  GroupKey group_key(const std::string& group, const GridPlace& place) const {
    if (group == "tensor") return {0, place.data, place.pipeline};
    if (group == "embedding") return {place.tensor, place.data, 0};
    if (group == "gradient_norm") return {0, plan_.distributed_optimizer ? 0 : place.data, 0};
    const bool two_holders = plan_.schedule == PipelineSchedule::dualpipe;
    return {place.tensor, 0,
            two_holders ? std::min(place.pipeline, plan_.pp - 1 - place.pipeline) : place.pipeline};
  }

  void add_group(const std::string& group) {
    std::map<GroupKey, std::vector<sim::Rank>> members;
    const auto for_each_slot = [&](const auto& visit) {
      for (int r = 0; r < grid_.ranks(); ++r) {
        const GridPlace place = grid_.place(rank(r));
        const std::vector<StageSlot>& slots = stage_at(place).slots;
        for (std::size_t s = 0; s < slots.size(); ++s)
          if (slots[s].group == group) visit(rank(r), s, group_key(group, place));
      }
    };
    for_each_slot([&](sim::Rank member, std::size_t, const GroupKey& key) {
      members[key].push_back(member);
    });
    std::map<GroupKey, std::uint32_t> ids;
    for (auto& [key, ranks] : members) ids[key] = add_communicator(group, std::move(ranks));
    for_each_slot([&](sim::Rank member, std::size_t slot, const GroupKey& key) {
      job_.ranks[member.index()].bindings[slot] = ids.at(key);
    });
  }

  std::uint32_t add_communicator(const std::string& group, std::vector<sim::Rank> members) {
    const std::uint32_t row = cost_row(group, members);
    job_.communicators.push_back({group, std::move(members), row});
    return static_cast<std::uint32_t>(job_.communicators.size() - 1);
  }

  std::uint32_t cost_row(const std::string& group, const std::vector<sim::Rank>& members) {
    const topology::GroupShape shape = topology::group_shape(cluster_, members);
    const auto next = static_cast<std::uint32_t>(job_.collective_costs.size());
    const auto [it, is_new] = rows_.try_emplace({group, shape}, next);
    if (is_new) job_.collective_costs.push_back(costs_.collective_row(group, shape));
    return it->second;
  }

  /// One channel for each kind of message between two ranks; both ends bind it.
  void add_channels() {
    using ChannelKey = std::tuple<bool, std::uint32_t, std::uint32_t>;  // gradient, from, to
    std::map<ChannelKey, std::uint32_t> channels;
    for (int r = 0; r < grid_.ranks(); ++r) {
      const GridPlace place = grid_.place(rank(r));
      const std::vector<StageSlot>& slots = stage_at(place).slots;
      for (std::size_t s = 0; s < slots.size(); ++s) {
        if (slots[s].group != sim::pipeline_group) continue;
        const sim::Rank peer = grid_.rank({place.tensor, place.data, slots[s].peer});
        const sim::Rank from = slots[s].sends ? rank(r) : peer;
        const sim::Rank to = slots[s].sends ? peer : rank(r);
        const auto next = static_cast<std::uint32_t>(job_.channels.size());
        const auto [it, is_new] =
            channels.try_emplace({slots[s].is_gradient, from.value, to.value}, next);
        if (is_new)
          job_.channels.push_back(
              {std::string(sim::pipeline_group), from, to, cost_row(slots[s].group, {from, to})});
        job_.ranks[static_cast<std::size_t>(r)].bindings[s] = it->second;
      }
    }
  }

  std::vector<StageProgram> stages_;
  const Plan& plan_;
  const topology::Cluster& cluster_;
  StepCosts& costs_;
  RankGrid grid_;
  std::map<std::pair<std::string, topology::GroupShape>, std::uint32_t> rows_;
  sim::Job job_;
};

}  // namespace

Bytes boundary_bytes(const Model& model, const Plan& plan, const Training& training) {
  const std::int64_t tokens = training.micro_batch * training.sequence_length;
  const std::int64_t whole = tokens * model.hidden * bytes_of(training.precision);
  return Bytes(plan.sequence_parallel ? whole / plan.tp : whole);
}

std::vector<StageProgram> megatron_programs(const MegatronModel& input, StepCosts& costs) {
  return ProgramMaker(input, costs).run();
}

sim::Job assemble_megatron_job(std::vector<StageProgram> stages, const Plan& plan,
                               const topology::Cluster& cluster, StepCosts& costs) {
  return JobMaker(std::move(stages), plan, cluster, costs).run();
}

}  // namespace stepsim::workloads
