// Plans of Megatron-LM: degrees filled in, and what it would refuse refused for its reason.

#include "scenarios/resolve_scenario.hpp"

#include "workloads/rank_grid.hpp"
#include "workloads/stage_layout.hpp"
#include "workloads/step.hpp"
#include "workloads/tensor_slice.hpp"

#include <algorithm>
#include <utility>

namespace stepsim::scenarios {

namespace {

using workloads::PipelineSchedule;
using workloads::Plan;
using workloads::Strategy;

std::string number(std::int64_t value) { return std::to_string(value); }

bool resolve_replicas(const PlanSpec& spec, int gpus, KeyProblems& problems, Plan& plan) {
  const std::int64_t model_parallel = std::int64_t{plan.tp} * plan.pp;
  const std::string model_ranks =
      "tp " + number(plan.tp) + " times pp " + number(plan.pp) + " is " + number(model_parallel);
  if (!spec.replicate) {
    plan.replicate = static_cast<int>(std::max<std::int64_t>(1, gpus / model_parallel));
    if (gpus % model_parallel == 0) return true;
    problems.refuse(spec.pp ? "plan.pp" : "plan.tp",
                    model_ranks + ", which does not divide " + number(gpus) + " GPUs",
                    "a product that divides " + number(gpus));
    return false;
  }
  plan.replicate = *spec.replicate;
  const std::int64_t ranks = model_parallel * plan.replicate;
  if (ranks == gpus) return true;
  problems.refuse("plan.replicate",
                  model_ranks + ", times replicate " + number(plan.replicate) + " is " +
                      number(ranks) + " ranks, but the cluster has " + number(gpus) + " GPUs",
                  "a product of " + number(gpus),
                  gpus % model_parallel == 0 ? number(gpus / model_parallel) : "");
  return false;
}

bool check_pipeline(const PlanSpec& spec, KeyProblems& problems, Plan& plan) {
  const bool interleaved = plan.schedule == PipelineSchedule::interleaved;
  if (plan.virtual_stages > 1 && !interleaved) {
    problems.refuse("plan.virtual_stages",
                    std::string("is ") + number(plan.virtual_stages) + " with schedule " +
                        to_string(plan.schedule),
                    "schedule: interleaved");
    return false;
  }
  if (interleaved && plan.virtual_stages < 2) {
    problems.refuse(spec.virtual_stages ? "plan.virtual_stages" : "plan.schedule",
                    "interleaved needs at least 2 virtual stages a rank; with one it is 1f1b",
                    "virtual_stages of 2 or more");
    return false;
  }
  if (plan.pp == 1 && plan.schedule != PipelineSchedule::one_f_one_b) {
    problems.refuse("plan.schedule",
                    std::string("is ") + to_string(plan.schedule) + " without a pipeline: pp is 1",
                    "pp of 2 or more, or no schedule");
    return false;
  }
  if (!plan.stage_layers.empty() && (plan.embedding_as_layer || plan.head_as_layer)) {
    problems.refuse("plan.stage_layers",
                    "says what embedding_as_layer and head_as_layer would make",
                    "one or the other");
    return false;
  }
  return true;
}

bool check_overlaps(KeyProblems& problems, const Plan& plan) {
  if (plan.overlap_param_gather && !plan.distributed_optimizer) {
    problems.refuse("plan.overlap_param_gather",
                    "overlap_param_gather is only supported with distributed_optimizer",
                    "distributed_optimizer: true");
    return false;
  }
  if (plan.overlap_param_gather && !plan.overlap_grad_reduce) {
    problems.refuse("plan.overlap_param_gather",
                    "overlap_param_gather is only supported with overlap_grad_reduce",
                    "overlap_grad_reduce: true");
    return false;
  }
  if (plan.bucket_bytes && !plan.overlap_grad_reduce) {
    problems.refuse("plan.bucket_size", "without overlap_grad_reduce all gradients are one bucket",
                    "overlap_grad_reduce: true");
    return false;
  }
  return true;
}

bool check_sequence_parallel(KeyProblems& problems, const Plan& plan) {
  if (!plan.sequence_parallel || plan.tp > 1) return true;
  problems.refuse("plan.sequence_parallel",
                  "sequence_parallel is on with tp 1, which has nothing to cut", "tp of 2 or more");
  return false;
}

}  // namespace

bool resolve_megatron(const PlanSpec& spec, KeyProblems& problems, Scenario& scenario) {
  Plan& plan = scenario.plan;
  plan.shard = 1;
  plan.tp = spec.tp.value_or(1);
  plan.pp = spec.pp.value_or(1);
  plan.sequence_parallel = spec.sequence_parallel.value_or(false);
  plan.schedule = spec.schedule.value_or(PipelineSchedule::one_f_one_b);
  plan.virtual_stages = spec.virtual_stages.value_or(1);
  plan.stage_layers = spec.stage_layers.value_or(std::vector<std::int64_t>{});
  plan.embedding_as_layer = spec.embedding_as_layer.value_or(false);
  plan.head_as_layer = spec.head_as_layer.value_or(false);
  plan.rank_order = spec.rank_order.value_or(plan.rank_order);
  plan.distributed_optimizer = spec.distributed_optimizer.value_or(false);
  plan.overlap_grad_reduce = spec.overlap_grad_reduce.value_or(false);
  plan.overlap_param_gather = spec.overlap_param_gather.value_or(false);
  if (const std::string problem = workloads::rank_order_problem(plan.rank_order);
      !problem.empty()) {
    problems.refuse("plan.rank_order", problem, "tp, cp, ep, dp and pp joined by -",
                    "tp-cp-ep-dp-pp");
    return false;
  }
  const bool pipeline = check_pipeline(spec, problems, plan);
  const bool overlaps = check_overlaps(problems, plan);
  const bool sequence = check_sequence_parallel(problems, plan);
  return resolve_replicas(spec, scenario.cluster.gpus, problems, plan) && pipeline && overlaps &&
         sequence;
}

bool check_megatron_model(KeyProblems& problems, const Scenario& scenario) {
  const Plan& plan = scenario.plan;
  if (plan.strategy != Strategy::megatron) return true;
  if (const std::string problem = workloads::tensor_slice_problem(scenario.model, plan.tp);
      !problem.empty()) {
    problems.refuse(plan.tp > 1 ? "plan.tp" : "plan.strategy", problem,
                    "a model that Megatron-LM can cut so");
    return false;
  }
  const std::string layout = workloads::stage_layout_problem(plan, scenario.model.layers);
  if (layout.empty()) return true;
  problems.refuse(plan.stage_layers.empty() ? "plan.pp" : "plan.stage_layers", layout,
                  plan.stage_layers.empty()
                      ? "pp times virtual_stages that divides the layers, or stage_layers"
                      : "one entry a stage, adding up to the layers");
  return false;
}

bool check_megatron_schedule(KeyProblems& problems, const Scenario& scenario) {
  const Plan& plan = scenario.plan;
  if (plan.strategy != Strategy::megatron) return true;
  const workloads::Training& training = scenario.training;
  if (plan.sequence_parallel && training.sequence_length % plan.tp != 0) {
    problems.refuse("training.sequence_length",
                    "is " + number(training.sequence_length) +
                        ", which sequence_parallel cannot divide by tp " + number(plan.tp),
                    "a multiple of " + number(plan.tp));
    return false;
  }
  const workloads::PipelineShape shape =
      workloads::pipeline_shape(plan, workloads::micro_batches(plan, training));
  const std::string problem = workloads::schedule_problem(shape);
  if (problem.empty()) return true;
  problems.refuse("training.global_batch", problem, "another number of micro-batches");
  return false;
}

}  // namespace stepsim::scenarios
