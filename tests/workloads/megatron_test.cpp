#include "workloads/megatron.hpp"

#include "workloads/layer_kernels.hpp"
#include "workloads/megatron_gradients.hpp"
#include "workloads/pipeline_schedule.hpp"
#include "workloads/rank_grid.hpp"
#include "workloads/stage_layout.hpp"
#include "workloads/tensor_slice.hpp"

#include "sim/executor.hpp"

#include "tests/support/catch.hpp"
#include "tests/workloads/fake_step.hpp"
#include "tests/workloads/megatron_fixture.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <variant>

namespace stepsim::workloads {
namespace {

using testing::AttentionCosts;
using testing::ConstantCosts;
using testing::group_volume;
using testing::MegatronCase;
using enum PipelineSchedule;

double seconds(const MegatronCase& with, const CostSource& costs) {
  return sim::execute(with.job(costs)).step_time.seconds();
}

/// Bytes of a whole activation of the hidden width.
Bytes hidden_bytes(const MegatronCase& with) {
  return Bytes(2 * with.training.micro_batch * with.training.sequence_length * with.model.hidden);
}

TEST_CASE("a pipeline's bubble is that of the formula when messages are free") {
  const AttentionCosts costs;
  MegatronCase with;
  with.plan.pp = 4;
  with.micro_batches = 8;
  // Two layers a stage: forward takes 2 s, backward 4 s.
  const double pass = 6;
  with.plan.schedule = GENERATE(one_f_one_b, gpipe);
  CHECK(seconds(with, costs) == Approx((8 + 3) * pass).epsilon(0.002));
  with.plan.schedule = interleaved;
  with.plan.virtual_stages = 2;
  CHECK(seconds(with, costs) == Approx(8 * pass + 3 * pass / 2).epsilon(0.002));
}

TEST_CASE("zero-bubble schedules are as fast as their dependencies allow") {
  // Weight gradients take no time here, so nothing can fill the bubble: ZB1P ramps like 1F1B.
  const AttentionCosts costs;
  MegatronCase with;
  with.plan.pp = 4;
  with.micro_batches = 8;
  with.plan.schedule = zb1p;
  CHECK(seconds(with, costs) == Approx((8 + 3) * 6.0).epsilon(0.002));
  with.plan.schedule = GENERATE(zbv, dualpipe, dualpipev);
  CHECK(seconds(with, costs) >= 8 * 6.0);
  CHECK(seconds(with, costs) <= (8 + 3) * 6.0 * 1.002);
}

TEST_CASE("tensor parallelism sends what Megatron-LM sends for a layer") {
  const NoCost free;
  MegatronCase with;
  with.plan.tp = 4;
  const Bytes x = hidden_bytes(with);
  const auto volume = [&](const char* name, const char* scope) {
    return group_volume(with.job(free), 0, "tensor", name, scope);
  };
  SECTION("without sequence parallelism") {
    CHECK(volume("all_reduce", "forward/layers.3").count == 2);
    CHECK(volume("all_reduce", "forward/layers.3").bytes == x * 2);
    CHECK(volume("all_reduce", "backward/layers.3").count == 2);
    CHECK(volume("all_reduce", "backward/layers.3").bytes == x * 2);
    CHECK(volume("all_reduce", "forward/embedding").bytes == x);
    // The head: three of the loss forward, the input's gradient backward.
    CHECK(volume("all_reduce", "forward/head").count == 3);
    CHECK(volume("all_reduce", "backward/head").bytes == x);
    CHECK(volume("all_gather", "").count == 0);
    CHECK(volume("reduce_scatter", "").count == 0);
  }
  SECTION("with sequence parallelism") {
    with.plan.sequence_parallel = true;
    CHECK(volume("all_gather", "forward/layers.3").bytes == x * 2);
    CHECK(volume("reduce_scatter", "forward/layers.3").bytes == x * 2);
    CHECK(volume("all_gather", "backward/layers.3").bytes == x * 4);
    CHECK(volume("reduce_scatter", "backward/layers.3").bytes == x * 2);
    CHECK(volume("reduce_scatter", "forward/embedding").bytes == x);
    CHECK(volume("all_gather", "backward/embedding").bytes == x);
    CHECK(volume("all_gather", "forward/head").bytes == x);
    CHECK(volume("reduce_scatter", "backward/head").bytes == x);
    CHECK(volume("all_reduce", "layers.").count == 0);
    // Gradients of the norms at the end of the step.
    CHECK(volume("all_reduce", "gradient_sync").bytes == Bytes(4 * 512 * (2 * 8 + 1)));
  }
  SECTION("full recomputation sends the forward's again") {
    with.plan.sequence_parallel = true;
    with.training.activation_checkpointing = CheckpointKind::full;
    CHECK(volume("all_gather", "recomputation/layers.3").bytes == x * 2);
    CHECK(volume("reduce_scatter", "recomputation/layers.3").bytes == x * 2);
  }
}

TEST_CASE("input gradients are summed beside weight gradients, the input gathered beside dgrad") {
  ConstantCosts costs;
  costs.copy_us = 200;  // every kernel
  costs.latency_us = 150;
  costs.gigabytes_per_second = 0;
  MegatronCase with;
  with.plan.tp = 2;
  with.plan.sequence_parallel = true;
  const testing::Executed step = testing::execute_job(with.job(costs));
  const auto at = [&](const std::string& name) {
    for (const testing::TimedOp& op : step.ops)
      if (op.name == name && op.scope == "backward/layers.3") return op;
    FAIL(name);
    return testing::TimedOp{};
  };
  const testing::TimedOp dgrad = at("gate_up_dgrad");
  const testing::TimedOp wgrad = at("gate_up_wgrad");
  CHECK(wgrad.start == dgrad.end);  // neither waited: 150 us fit beside 200
  int beside_dgrad = 0;
  int beside_wgrad = 0;
  for (const testing::TimedOp& op : step.ops) {
    if (op.group != "tensor") continue;
    beside_dgrad += op.name == "all_gather" && op.start < dgrad.end && op.end > dgrad.start;
    beside_wgrad += op.name == "reduce_scatter" && op.start < wgrad.end && op.end > wgrad.start;
  }
  CHECK(beside_dgrad == 1);
  CHECK(beside_wgrad == 1);
}

TEST_CASE("every schedule and cut runs to its end, folded as unfolded") {
  ConstantCosts costs;
  MegatronCase with;
  with.micro_batches = 8;
  with.plan.schedule = GENERATE(one_f_one_b, gpipe, interleaved, zb1p, zbv, dualpipe, dualpipev);
  with.plan.pp = GENERATE(2, 4);
  with.plan.virtual_stages = with.plan.schedule == interleaved ? 2 : 1;
  const int tp = GENERATE(1, 2);
  const bool sequence_parallel = GENERATE(false, true);
  if (sequence_parallel && tp == 1) return;
  with.plan.tp = tp;
  with.plan.sequence_parallel = sequence_parallel;
  with.plan.replicate = 2;
  with.plan.distributed_optimizer = with.plan.overlap_grad_reduce = sequence_parallel;
  with.plan.overlap_param_gather = sequence_parallel;
  with.model.tied_embeddings = tp == 2;
  with.training.activation_checkpointing = GENERATE(CheckpointKind::none, CheckpointKind::full);
  CAPTURE(to_string(with.plan.schedule), with.plan.pp, tp, sequence_parallel);
  // The builder of programs refuses one that frees what is not there or leaves a buffer allocated.
  const sim::Job job = with.job(costs);
  sim::check_job(job);
  const sim::Execution folded = sim::execute(job);
  const sim::Execution unfolded = sim::execute(job, {sim::Folding::off});
  CHECK(folded.step_time == unfolded.step_time);
  CHECK(folded.rank_end == unfolded.rank_end);
  CHECK(folded.classes.count() <= static_cast<std::size_t>(with.plan.pp));
  CHECK(folded.step_time > Time::zero());
}

TEST_CASE("a stage holds as many micro-batches of activations as its schedule has in flight") {
  const NoCost free;
  MegatronCase with;
  with.plan.pp = 4;
  with.micro_batches = 8;
  with.plan.schedule = GENERATE(one_f_one_b, interleaved, gpipe);
  with.plan.virtual_stages = with.plan.schedule == interleaved ? 2 : 1;
  const sim::Job job = with.job(free);
  const PipelineShape shape = pipeline_shape(with.plan, 8);
  for (int stage = 0; stage < 4; ++stage) {
    int held = 0;
    int most = 0;
    for (const testing::MemoryEvent& event :
         testing::memory_events(job.programs[static_cast<std::size_t>(stage)])) {
      // Every layer of a chunk holds one; a chunk has one or two.
      if (event.buffer.find("attention_log_sum_exp") == std::string::npos) continue;
      held += event.allocates ? 1 : -1;
      most = std::max(most, held);
    }
    const int layers = 8 / stage_count(shape);
    CHECK(most == layers * most_in_flight(pipeline_passes(shape, stage)));
  }
}

TEST_CASE("states are those of Megatron-LM: 18 bytes a parameter, or 6 and 12 shared by replicas") {
  const NoCost free;
  MegatronCase with;
  with.plan.replicate = 4;
  const auto persistent = [&] {
    std::map<sim::BufferKind, double> bytes;
    const sim::Job job = with.job(free);
    for (const sim::Buffer& buffer : job.programs[0].buffers)
      if (buffer.persistent) bytes[buffer.kind] += static_cast<double>(buffer.size.count());
    return bytes;
  };
  const auto parameters = static_cast<double>(parameter_count(with.model));
  CHECK(persistent()[sim::BufferKind::parameters] == Approx(2 * parameters).epsilon(1e-4));
  CHECK(persistent()[sim::BufferKind::gradients] == Approx(4 * parameters).epsilon(1e-4));
  CHECK(persistent()[sim::BufferKind::optimizer_states] == Approx(12 * parameters).epsilon(1e-4));
  with.plan.distributed_optimizer = true;
  CHECK(persistent()[sim::BufferKind::optimizer_states] == Approx(3 * parameters).epsilon(1e-4));
  with.plan.tp = 2;
  CHECK(persistent()[sim::BufferKind::parameters] == Approx(parameters).epsilon(0.01));
}

TEST_CASE(
    "replicas reduce every gradient once, whatever the micro-batches, and gather what they own") {
  const NoCost free;
  MegatronCase with;
  with.plan.replicate = 4;
  with.plan.pp = 2;
  with.micro_batches = GENERATE(2, 6);
  with.plan.overlap_grad_reduce = GENERATE(false, true);
  const auto volume = [&](const char* name) {
    const sim::Job job = with.job(free);
    return static_cast<double>((group_volume(job, 0, "data", name, "").bytes +
                                group_volume(job, 1, "data", name, "").bytes)
                                   .count());
  };
  const auto parameters = static_cast<double>(parameter_count(with.model));
  CHECK(volume("all_reduce") == Approx(4 * parameters).epsilon(1e-4));
  with.plan.distributed_optimizer = true;
  CHECK(volume("all_reduce") == 0);
  CHECK(volume("reduce_scatter") == Approx(4 * parameters).epsilon(1e-4));
  CHECK(volume("all_gather") == Approx(2 * parameters).epsilon(1e-4));
  if (!with.plan.overlap_grad_reduce) return;
  with.plan.overlap_param_gather = true;
  CHECK(volume("all_gather") == Approx(2 * parameters).epsilon(1e-4));
}

TEST_CASE("buckets close at the limit, in reverse order of registration") {
  const NoCost free;
  MegatronCase with;
  with.plan.replicate = 2;
  with.plan.overlap_grad_reduce = true;
  with.plan.bucket_bytes = 4 * 1'000'000;
  const sim::Job job = with.job(free);
  const auto reductions = group_volume(job, 0, "data", "all_reduce", "");
  CHECK(reductions.count > 8);
  with.plan.overlap_grad_reduce = false;
  CHECK(group_volume(with.job(free), 0, "data", "all_reduce", "").count == 1);
}

TEST_CASE("first and last stage add the gradients of a tied embedding") {
  const NoCost free;
  MegatronCase with;
  with.plan.pp = 4;
  with.micro_batches = 4;
  const auto count = [&](std::size_t stage) {
    return group_volume(with.job(free), stage, "embedding", "all_reduce", "").count;
  };
  CHECK(count(0) == 0);
  with.model.tied_embeddings = true;
  CHECK(count(0) == 1);
  CHECK(count(1) == 0);
  CHECK(count(3) == 1);
  with.plan.schedule = zbv;  // both ends are on the first rank
  CHECK(count(0) == 0);
}

/// Kernels of a block of a model cut over `tp` ranks.
ModuleKernels cut_block(const Model& model, int tp, bool sequence_parallel) {
  KernelStack stack;
  stack.megatron = true;
  stack.tensor = {tp, sequence_parallel};
  return layer_kernels(tensor_slice(model, tp), 0, {2, 256}, stack);
}

double matrix_flops_of(const std::vector<LaunchedKernel>& kernels) {
  double sum = 0;
  for (const LaunchedKernel& kernel : kernels)
    if (kernel.kind == IssueKind::kernel && !std::holds_alternative<Streaming>(kernel.kernel.work))
      sum += flops(kernel.kernel);
  return sum;
}

TEST_CASE("the products of all tensor ranks are those of the whole layer") {
  const MegatronCase with;
  KernelStack plain;
  Model fused = with.model;
  fused.fused_qkv = fused.fused_gate_up = true;
  const ModuleKernels whole = layer_kernels(fused, 0, {2, 256}, plain);
  for (const int tp : {1, 2, 4, 8})
    for (const bool sequence_parallel : {false, true}) {
      const ModuleKernels part = cut_block(with.model, tp, sequence_parallel);
      CAPTURE(tp, sequence_parallel);
      CHECK(matrix_flops_of(part.forward) * tp == matrix_flops_of(whole.forward));
      CHECK(matrix_flops_of(part.backward) * tp == matrix_flops_of(whole.backward));
    }
}

TEST_CASE("a GPT block keeps what the published formula says, less the dropout masks") {
  MegatronCase with;
  with.model.activation = Activation::gelu;
  with.model.norm = Norm::layer_norm;
  with.model.norm_has_bias = true;
  with.model.positions = Positions::learned;
  with.model.qkv_bias = with.model.attention_output_bias = with.model.mlp_bias = true;
  with.model.ffn = 4 * with.model.hidden;
  const double sbh = 2.0 * 256 * 512;
  const double statistics = 2 * 8.0 * 2 * 256;  // mean and deviation of two norms
  const double log_sum_exp = 4.0 * 2 * 256 * 8;
  const auto kept = [&](int tp, bool sequence_parallel) {
    const ModuleWork tensors = cut_block(with.model, tp, sequence_parallel).tensors;
    Bytes sum = tensors.input_size;
    for (const ActivationTensor& tensor : tensors.activations)
      if (tensor.last_backward_use) sum += tensor.size;
    return static_cast<double>(sum.count());
  };
  // 34 s·b·h / t and (10 + 24/t) s·b·h; two masks of a byte are not there, nor cut without SP.
  for (const int t : {2, 4, 8}) {
    CHECK(kept(t, true) == 32 * sbh / t + (statistics + log_sum_exp) / t);
    CHECK(kept(t, false) == (8 + 24.0 / t) * sbh + statistics + log_sum_exp / t);
  }
}

TEST_CASE("ranks are numbered in the given order") {
  Plan plan;
  plan.tp = 2;
  plan.replicate = 3;
  plan.pp = 4;
  plan.rank_order = GENERATE("tp-cp-ep-dp-pp", "tp-pp-dp", "pp-dp-tp");
  const RankGrid grid(plan);
  CHECK(grid.ranks() == 24);
  std::set<std::uint32_t> seen;
  for (int t = 0; t < 2; ++t)
    for (int d = 0; d < 3; ++d)
      for (int p = 0; p < 4; ++p) {
        const sim::Rank rank = grid.rank({t, d, p});
        CHECK(seen.insert(rank.value).second);
        const GridPlace place = grid.place(rank);
        CHECK(std::tuple(place.tensor, place.data, place.pipeline) == std::tuple(t, d, p));
      }
  plan.rank_order = "tp-cp-ep-dp-pp";
  CHECK(RankGrid(plan).rank({0, 1, 0}).value == 2);
  CHECK(RankGrid(plan).rank({0, 0, 1}).value == 6);
  CHECK(rank_order_problem("tp-dp") == "has to name pp once");
  CHECK(rank_order_problem("tp-dp-pp-xp") == "names \"xp\", which is no axis");
  CHECK(rank_order_problem("tp-cp-ep-dp-pp").empty());
}

TEST_CASE("layers are cut over stages as Megatron-LM does") {
  Plan plan;
  plan.pp = 4;
  CHECK(stage_layout_problem(plan, 10).find("10 layers (10) do not divide into 4") == 0);
  plan.embedding_as_layer = plan.head_as_layer = true;
  const std::vector<StageContent> stages = stage_contents(plan, 10);
  CHECK(stages[0].layers == 2);
  CHECK(stages[1].layers == 3);
  CHECK(stages[3].layers == 2);
  CHECK(stages[3].first_layer == 8);
  CHECK(stages[0].embedding);
  CHECK(stages[3].head);
  plan.stage_layers = {1, 4, 4, 1};
  CHECK(stage_contents(plan, 10)[2].first_layer == 5);
  CHECK(stage_layout_problem(plan, 11) == "adds up to 10 layers, the model has 11");
}

TEST_CASE("a tensor slice holds its part of every matrix") {
  MegatronCase with;
  with.model.kv_heads = 2;
  const Model slice = tensor_slice(with.model, 4);
  CHECK(slice.heads == 2);
  CHECK(slice.kv_heads == 1);  // two ranks share one
  CHECK(slice.ffn == 384);
  CHECK(slice.vocabulary == 1024);
  CHECK(padded_vocabulary(128'256, 8) == 128 * 8 * 126);
  CHECK(tensor_slice_problem(with.model, 3).find("num_attention_heads (8) must be a multiple") ==
        0);
}

}  // namespace
}  // namespace stepsim::workloads
