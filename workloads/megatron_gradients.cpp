#include "workloads/megatron_gradients.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

namespace stepsim::workloads {
namespace {

using topology::Collective;

constexpr std::int64_t bucket_elements = 40'000'000;  // ddp_config.bucket_size
constexpr std::int64_t bucket_elements_of_a_replica = 1'000'000;

bool ends_with(const std::string& text, const char* end) { return text.ends_with(end); }

bool is_table(const Parameter& parameter) {
  return ends_with(parameter.name, "embedding.weight") ||
         ends_with(parameter.name, "positions.weight");
}

/// Weights of matrix products; their gradients are added up by the product.
bool is_product_weight(const Parameter& parameter) {
  return parameter.shape.size() == 2 && !is_table(parameter);
}

/// Norms, and biases that are added after the sum over ranks: every rank has all of them, but sees
/// a part of the tokens only.
bool is_sequence_parallel(const Parameter& parameter) {
  return parameter.name.find("norm") != std::string::npos ||
         ends_with(parameter.name, "output.bias") || ends_with(parameter.name, "down.bias");
}

std::int64_t rounded_up(std::int64_t number, std::int64_t unit) {
  return (number + unit - 1) / unit * unit;
}

std::int64_t limit_of(const Plan& plan, const Training& training) {
  if (!plan.overlap_grad_reduce) return std::numeric_limits<std::int64_t>::max();
  if (plan.bucket_bytes)
    return std::max<std::int64_t>(1, *plan.bucket_bytes / bytes_of(training.reduce_precision));
  return std::max(bucket_elements, bucket_elements_of_a_replica * gradient_group_size(plan));
}

/// The chunk's parameters as registered, each once.
std::vector<std::uint32_t> parameters_of(const StepWork& work, const ModuleChunk& chunk) {
  std::vector<std::uint32_t> parameters;
  for (std::size_t m = chunk.first; m < chunk.end; ++m)
    for (const std::uint32_t parameter : work.modules[m].parameters)
      if (std::find(parameters.begin(), parameters.end(), parameter) == parameters.end())
        parameters.push_back(parameter);
  return parameters;
}

}  // namespace

int gradient_group_size(const Plan& plan) {
  return plan.replicate * (plan.schedule == PipelineSchedule::dualpipe && plan.pp > 1 ? 2 : 1);
}

std::vector<GradientBucket> gradient_buckets(const StepWork& work, const ModuleChunk& chunk,
                                             const Plan& plan, const Training& training) {
  const std::int64_t limit = limit_of(plan, training);
  const std::int64_t unit = std::lcm(std::int64_t{128}, std::int64_t{gradient_group_size(plan)});
  std::vector<GradientBucket> buckets;
  bool is_open = false;
  std::vector<std::uint32_t> parameters = parameters_of(work, chunk);
  std::reverse(parameters.begin(), parameters.end());
  for (const std::uint32_t parameter : parameters) {
    if (!is_open) buckets.emplace_back();
    GradientBucket& bucket = buckets.back();
    bucket.parameters.push_back(parameter);
    bucket.elements += rounded_up(work.parameters[parameter].count(), 64);
    is_open = bucket.elements < limit;
  }
  for (GradientBucket& bucket : buckets) bucket.elements = rounded_up(bucket.elements, unit);
  return buckets;
}

MegatronGradients::MegatronGradients(const MegatronStage& stage, StepCosts& costs,
                                     sim::ProgramBuilder& builder, sim::StreamId compute,
                                     std::vector<StageSlot>& slots, std::optional<Group> tensor)
    : stage_(stage),
      costs_(costs),
      builder_(builder),
      compute_(compute),
      slots_(slots),
      tensor_(tensor) {
  const Plan& plan = stage.plan;
  if (is_replicated()) data_ = add_group("data");
  const bool norm_is_shared =
      plan.tp * plan.pp > 1 || (is_replicated() && plan.distributed_optimizer);
  if (norm_is_shared) norm_ = add_group("gradient_norm");
  if (stage.ties_embedding) embedding_ = add_group("embedding");
  add_buckets(costs);
  add_states();
}

MegatronGradients::Group MegatronGradients::add_group(const char* name) {
  slots_.push_back({name});
  return {builder_.add_stream(name, sim::StreamKind::communication),
          builder_.add_communicator_slot(name)};
}

/// Ranks that hold the same stages reduce them in the same order, whatever they number their
/// chunks.
std::vector<int> MegatronGradients::chunks_by_stage() const {
  std::vector<int> chunks(stage_.work.chunks.size());
  std::iota(chunks.begin(), chunks.end(), 0);
  std::sort(chunks.begin(), chunks.end(), [&](int a, int b) {
    return stage_of(stage_.shape, stage_.rank, a) < stage_of(stage_.shape, stage_.rank, b);
  });
  return chunks;
}

void MegatronGradients::add_buckets(StepCosts& costs) {
  const Plan& plan = stage_.plan;
  parameters_.resize(stage_.work.parameters.size());
  std::vector<bool> is_in_bucket(parameters_.size(), false);
  for (const int number : chunks_by_stage()) {
    const ModuleChunk& chunk = stage_.work.chunks[static_cast<std::size_t>(number)];
    const std::size_t first = buckets_.size();
    for (GradientBucket& bucket : gradient_buckets(stage_.work, chunk, plan, stage_.training)) {
      // A table that two chunks of the rank share is reduced with the first of them.
      std::erase_if(bucket.parameters, [&](std::uint32_t p) { return is_in_bucket[p]; });
      BucketState state;
      for (const std::uint32_t parameter : bucket.parameters) {
        is_in_bucket[parameter] = true;
        parameters_[parameter].bucket = buckets_.size();
      }
      state.reduced = builder_.add_event();
      state.gathered = builder_.add_event();
      const Collective reduction =
          plan.distributed_optimizer ? Collective::reduce_scatter : Collective::all_reduce;
      if (is_replicated())
        state.reduction =
            costs.collective(reduction, "data", Bytes(bucket.elements) * gradient_bytes());
      if (gathers())
        state.gather = costs.collective(Collective::all_gather, "data",
                                        Bytes(bucket.elements) * parameter_bytes());
      state.pending = bucket.parameters.size();
      elements_ += bucket.elements;
      state.bucket = std::move(bucket);
      buckets_.push_back(std::move(state));
    }
    for (std::size_t b = buckets_.size(); b > first; --b) forward_order_.push_back(b - 1);
  }
}

/// Contiguous buffers of all parameters and main gradients; fp32 parameters and Adam's moments, of
/// this rank's part when the optimizer is distributed.
void MegatronGradients::add_states() {
  using sim::BufferKind;
  const std::int64_t cut =
      stage_.plan.distributed_optimizer ? std::int64_t{gradient_group_size(stage_.plan)} : 1;
  const Training& training = stage_.training;
  const bool has_master = training.precision != training.parameter_precision;
  const std::int64_t state_bytes = bytes_of(training.parameter_precision) * (has_master ? 3 : 2);
  builder_.add_persistent_buffer("parameters", BufferKind::parameters,
                                 Bytes(elements_) * parameter_bytes());
  builder_.add_persistent_buffer("main_gradients", BufferKind::gradients,
                                 Bytes(elements_) * gradient_bytes());
  builder_.add_persistent_buffer("optimizer_states", BufferKind::optimizer_states,
                                 Bytes(elements_ / cut) * state_bytes);
  for (std::uint32_t p = 0; p < parameters_.size(); ++p) add_parameter(p);
}

void MegatronGradients::add_parameter(std::uint32_t parameter) {
  const Parameter& here = stage_.work.parameters[parameter];
  if (is_product_weight(here)) return;
  parameters_[parameter].raw = builder_.add_buffer(
      here.name + "/gradient", sim::BufferKind::gradients, Bytes(here.count()) * parameter_bytes());
}

void MegatronGradients::streaming(const char* name, StreamingKind kind, std::int64_t read,
                                  std::int64_t written) {
  builder_.kernel(compute_, costs_.kernel(streaming_kernel(name, kind, read, written)),
                  stage_.work.launch_host_time);
}

void MegatronGradients::collective(const Group& group, sim::CollectiveId id) {
  builder_.wait_stream(group.stream, compute_);
  builder_.collective(group.stream, group.slot, id, stage_.host.collective);
}

void MegatronGradients::begin_step() {
  builder_.set_scope("zero_gradients");
  streaming("zero_gradients", StreamingKind::copy, 0, elements_ * gradient_bytes());
  // The end of the step before has asked for them already.
  if (gathers() && stage_.plan.overlap_param_gather) gather(0);
}

/// All-gather number `place` in the order of forward.
void MegatronGradients::gather(std::size_t place) {
  if (place >= forward_order_.size()) return;
  BucketState& state = buckets_[forward_order_[place]];
  if (state.is_gathering) return;
  state.is_gathering = true;
  collective(*data_, state.gather);
  builder_.record(state.gathered, data_->stream);
}

/// The forward pre-hook: waits for the bucket and asks for the next.
void MegatronGradients::wait_for_parameters(std::size_t module) {
  if (!gathers() || !stage_.plan.overlap_param_gather) return;
  for (const std::uint32_t parameter : stage_.work.modules[module].parameters) {
    const std::size_t bucket = parameters_[parameter].bucket;
    if (buckets_[bucket].is_there) continue;
    buckets_[bucket].is_there = true;
    const auto place = static_cast<std::size_t>(
        std::find(forward_order_.begin(), forward_order_.end(), bucket) - forward_order_.begin());
    gather(place);
    builder_.wait(compute_, buckets_[bucket].gathered);
    gather(place + 1);
  }
}

void MegatronGradients::allocate_gradient(std::uint32_t parameter) {
  if (parameters_[parameter].raw) builder_.allocate(*parameters_[parameter].raw);
}

void MegatronGradients::gradient_ready(std::uint32_t parameter) {
  builder_.host_work(stage_.host.gradient_hook);
  if (parameters_[parameter].raw) {
    const std::int64_t main = count(parameter) * gradient_bytes();
    streaming("main_gradient_add", StreamingKind::elementwise,
              main + count(parameter) * parameter_bytes(), main);
    builder_.free(*parameters_[parameter].raw);
  }
  if (!synchronises_ || !stage_.plan.overlap_grad_reduce || !is_replicated()) return;
  BucketState& state = buckets_[parameters_[parameter].bucket];
  if (state.pending > 0 && --state.pending == 0) reduce(state);
}

/// Scales by the number of replicas, then reduces.
void MegatronGradients::reduce(BucketState& state) {
  if (state.is_reduced || state.bucket.parameters.empty()) return;
  state.is_reduced = true;
  const std::int64_t bytes = state.bucket.elements * gradient_bytes();
  streaming("gradient_scale", StreamingKind::elementwise, bytes, bytes);
  collective(*data_, state.reduction);
  builder_.record(state.reduced, data_->stream);
}

void MegatronGradients::end_step() {
  builder_.set_scope("gradient_sync");
  builder_.host_work(stage_.host.finalize);
  if (is_replicated()) {
    for (BucketState& state : buckets_) reduce(state);
    for (const BucketState& state : buckets_)
      if (state.is_reduced) builder_.wait(compute_, state.reduced);
  }
  if (stage_.plan.sequence_parallel && tensor_) reduce_sequence_parallel();
  if (stage_.ties_embedding) reduce_embedding();
  clip();
  update();
}

/// Copied together, reduced, copied back.
void MegatronGradients::reduce_sequence_parallel() {
  std::int64_t elements = 0;
  for (const Parameter& parameter : stage_.work.parameters)
    if (is_sequence_parallel(parameter)) elements += parameter.count();
  if (elements == 0) return;
  const std::int64_t bytes = elements * gradient_bytes();
  streaming("norm_gradients_copy", StreamingKind::copy, bytes, bytes);
  collective(*tensor_, costs_.collective(Collective::all_reduce, "tensor", Bytes(bytes)));
  builder_.wait_stream(compute_, tensor_->stream);
  streaming("norm_gradients_copy", StreamingKind::copy, bytes, bytes);
}

void MegatronGradients::reduce_embedding() {
  for (const Parameter& parameter : stage_.work.parameters) {
    if (!ends_with(parameter.name, "embedding.weight")) continue;
    collective(*embedding_, costs_.collective(Collective::all_reduce, "embedding",
                                              Bytes(parameter.count()) * gradient_bytes()));
    builder_.wait_stream(compute_, embedding_->stream);
  }
}

/// The norm of all gradients is read back by the host, so every rank waits for the slowest here.
void MegatronGradients::clip() {
  builder_.set_scope("gradient_norm");
  const StepWork& work = stage_.work;
  builder_.kernel(compute_, work.gradient_norm.kernel, work.gradient_norm.host_time);
  if (norm_) {
    collective(*norm_, costs_.collective(Collective::all_reduce, "gradient_norm", Bytes(4)));
    builder_.wait_stream(compute_, norm_->stream);
  }
  builder_.host_sync_stream(compute_);
  builder_.kernel(compute_, work.gradient_clip.kernel, work.gradient_clip.host_time);
}

void MegatronGradients::update() {
  builder_.set_scope("optimizer");
  for (const IssuedKernel& kernel : stage_.work.optimizer)
    builder_.kernel(compute_, kernel.kernel, kernel.host_time);
  if (!gathers() || stage_.plan.overlap_param_gather) return;
  builder_.set_scope("parameter_gather");
  for (std::size_t place = 0; place < forward_order_.size(); ++place) gather(place);
  for (const BucketState& state : buckets_) builder_.wait(compute_, state.gathered);
}

}  // namespace stepsim::workloads
