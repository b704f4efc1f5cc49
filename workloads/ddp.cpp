#include "workloads/ddp.hpp"

#include "workloads/step_emitter.hpp"

#include "sim/program_builder.hpp"

#include <string>

namespace stepsim::workloads {
namespace {

struct BucketState {
  const DdpBucket* bucket = nullptr;
  sim::BufferId compressed;  // in reduce precision, where that is not the gradients' own
  sim::EventId reduced;
  sim::CollectiveId all_reduce;
  std::size_t pending = 0;  // gradients not ready yet
};

struct ParameterState {
  std::size_t bucket = 0;
  sim::BufferId raw_gradient;  // as autograd writes it, in compute precision
  sim::BufferId gradient;
  bool has_gradient = false;
};

class DdpEmitter final : public GradientListener {
 public:
  DdpEmitter(const DdpInput& input, StepCosts& costs)
      : input_(input),
        costs_(costs),
        builder_("ddp"),
        default_stream_(builder_.add_stream("default", sim::StreamKind::compute)),
        compute_(input.work, builder_, default_stream_),
        buckets_(ddp_buckets(input.work, input.plan, input.training)) {
    if (is_distributed()) {
      all_reduce_stream_ = builder_.add_stream("all_reduce", sim::StreamKind::communication);
      replicate_slot_ = builder_.add_communicator_slot("replicate");
    }
    add_parameters();
    add_buckets();
    add_weight_casts();
  }

  sim::Program emit() {
    for (std::int64_t m = 0; m < input_.micro_batches; ++m) {
      synchronises_ = is_distributed() && m + 1 == input_.micro_batches;
      forward();
      backward();
    }
    clip_gradient_norm();
    step_optimizer();
    return builder_.finish();
  }

  void allocate_gradient(std::uint32_t parameter) override;
  void gradient_ready(std::uint32_t parameter) override;

 private:
  void add_parameters();
  void add_buckets();
  void add_weight_casts();
  void forward();
  void backward();
  void store_gradient(std::uint32_t parameter);
  void copy_into_bucket(std::uint32_t parameter);
  void launch_ready_buckets();
  void all_reduce(BucketState& bucket);
  void finalize_backward();
  void clip_gradient_norm();
  void step_optimizer();

  bool is_distributed() const { return input_.plan.replicate > 1; }
  bool casts() const { return input_.training.precision != input_.training.parameter_precision; }
  bool compresses() const {
    return input_.training.reduce_precision != input_.training.parameter_precision;
  }
  bool views() const { return input_.plan.gradient_as_bucket_view && is_distributed(); }
  std::int64_t count(std::uint32_t parameter) const {
    return input_.work.parameters[parameter].count();
  }
  std::int64_t gradient_bytes() const { return bytes_of(input_.training.parameter_precision); }

  void stream_kernel(sim::StreamId stream, const char* name, StreamingKind kind, std::int64_t read,
                     std::int64_t written, std::size_t launches = 1) {
    Kernel kernel = streaming_kernel(name, kind, read, written);
    kernel.launches = static_cast<int>(launches);
    builder_.kernel(stream, costs_.kernel(kernel),
                    input_.work.launch_host_time * static_cast<std::int64_t>(launches));
  }

  const DdpInput& input_;
  StepCosts& costs_;
  sim::ProgramBuilder builder_;
  sim::StreamId default_stream_;
  sim::StreamId all_reduce_stream_;
  sim::SlotId replicate_slot_;
  StepEmitter compute_;
  std::vector<DdpBucket> buckets_;
  std::vector<BucketState> states_;
  std::vector<ParameterState> parameters_;
  std::vector<sim::BufferId> cast_weights_;  // per module, when computing below stored precision
  std::vector<std::int64_t> module_elements_;
  std::size_t next_bucket_ = 0;  // launched in index order only
  bool synchronises_ = false;
};

void DdpEmitter::add_parameters() {
  using sim::BufferKind;
  const std::int64_t stored = gradient_bytes();
  for (const Parameter& parameter : input_.work.parameters) {
    const Bytes elements(parameter.count());
    builder_.add_persistent_buffer(parameter.name, BufferKind::parameters, elements * stored);
    builder_.add_persistent_buffer(parameter.name + "/adam_moments", BufferKind::optimizer_states,
                                   elements * (2 * stored));
    ParameterState state;
    state.raw_gradient =
        builder_.add_buffer(parameter.name + "/raw_gradient", BufferKind::unsharded_gradients,
                            elements * bytes_of(input_.training.precision));
    state.gradient =
        builder_.add_buffer(parameter.name + "/gradient", BufferKind::gradients, elements * stored);
    parameters_.push_back(state);
  }
}

void DdpEmitter::add_buckets() {
  if (!is_distributed()) return;
  using sim::BufferKind;
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    const DdpBucket& bucket = buckets_[b];
    const std::string name = "bucket." + std::to_string(b);
    // Buckets live as long as the DDP module. As views they are the gradients themselves.
    builder_.add_persistent_buffer(name,
                                   views() ? BufferKind::gradients : BufferKind::communication,
                                   Bytes(bucket.elements) * gradient_bytes());
    BucketState state;
    state.bucket = &bucket;
    const Bytes wire = all_reduce_bytes(bucket, input_.training);
    state.compressed = builder_.add_buffer(name + "/compressed", BufferKind::communication, wire);
    state.reduced = builder_.add_event();
    state.all_reduce = costs_.collective(topology::Collective::all_reduce, "replicate", wire);
    states_.push_back(state);
    for (const std::uint32_t parameter : bucket.parameters) parameters_[parameter].bucket = b;
  }
}

void DdpEmitter::add_weight_casts() {
  for (const Module& module : input_.work.modules) {
    std::int64_t elements = 0;
    for (const std::uint32_t parameter : module.parameters) elements += count(parameter);
    module_elements_.push_back(elements);
    cast_weights_.push_back(
        builder_.add_buffer(module.name + "/cast_weights", sim::BufferKind::unsharded_parameters,
                            Bytes(elements) * bytes_of(input_.training.precision)));
  }
}

void DdpEmitter::forward() {
  builder_.set_scope("forward/root");
  builder_.host_work(input_.host.forward);
  for (std::size_t module = 0; module < input_.work.modules.size(); ++module) {
    if (casts() && module_elements_[module] > 0) {
      // Autocast casts a weight when it is first used; autograd keeps the copy for backward.
      builder_.set_scope("forward/" + input_.work.modules[module].name);
      builder_.allocate(cast_weights_[module]);
      const std::int64_t elements = module_elements_[module];
      stream_kernel(default_stream_, "weight_cast", StreamingKind::copy,
                    elements * gradient_bytes(), elements * bytes_of(input_.training.precision),
                    input_.work.modules[module].parameters.size());
    }
    compute_.forward(module);
  }
}

void DdpEmitter::backward() {
  next_bucket_ = 0;
  for (BucketState& state : states_) state.pending = state.bucket->parameters.size();
  for (std::size_t module = input_.work.modules.size(); module-- > 0;) {
    compute_.backward(module, *this);
    if (casts() && module_elements_[module] > 0) builder_.free(cast_weights_[module]);
  }
  if (synchronises_) finalize_backward();
}

void DdpEmitter::allocate_gradient(std::uint32_t parameter) {
  builder_.allocate(parameters_[parameter].raw_gradient);
}

void DdpEmitter::gradient_ready(std::uint32_t parameter) {
  store_gradient(parameter);
  if (!synchronises_) return;
  builder_.host_work(input_.host.gradient_hook);
  copy_into_bucket(parameter);
  --states_[parameters_[parameter].bucket].pending;
  launch_ready_buckets();
}

// AccumulateGrad: the gradient in stored precision is kept, or added to what earlier micro-batches
// left.
void DdpEmitter::store_gradient(std::uint32_t parameter) {
  ParameterState& state = parameters_[parameter];
  const std::int64_t elements = count(parameter);
  const std::int64_t raw = elements * bytes_of(input_.training.precision);
  const std::int64_t stored = elements * gradient_bytes();
  if (state.has_gradient) {
    if (casts()) stream_kernel(default_stream_, "gradient_cast", StreamingKind::copy, raw, stored);
    stream_kernel(default_stream_, "gradient_accumulate", StreamingKind::elementwise, 2 * stored,
                  stored);
    builder_.free(state.raw_gradient);
    return;
  }
  state.has_gradient = true;
  if (casts()) {
    builder_.allocate(state.gradient);
    stream_kernel(default_stream_, "gradient_cast", StreamingKind::copy, raw, stored);
    builder_.free(state.raw_gradient);
    return;
  }
  builder_.free(state.raw_gradient);  // autograd's tensor becomes the gradient itself
  builder_.allocate(state.gradient);
}

// Averaging is folded into the copy. Gradients that are views of their bucket are divided in place,
// or copied once after zero_grad dropped them: the same bytes.
void DdpEmitter::copy_into_bucket(std::uint32_t parameter) {
  const std::int64_t bytes = count(parameter) * gradient_bytes();
  stream_kernel(default_stream_, views() ? "gradient_divide" : "bucket_copy_in",
                views() ? StreamingKind::elementwise : StreamingKind::copy, bytes, bytes);
  if (!views()) return;
  builder_.free(parameters_[parameter].gradient);
  parameters_[parameter].has_gradient = false;
}

void DdpEmitter::launch_ready_buckets() {
  while (next_bucket_ < states_.size() && states_[next_bucket_].pending == 0)
    all_reduce(states_[next_bucket_++]);
}

void DdpEmitter::all_reduce(BucketState& state) {
  const std::int64_t full = state.bucket->elements * gradient_bytes();
  const std::int64_t wire = all_reduce_bytes(*state.bucket, input_.training).count();
  if (compresses()) {
    builder_.allocate(state.compressed);
    stream_kernel(default_stream_, "bucket_compress", StreamingKind::copy, full, wire);
  }
  builder_.wait_stream(all_reduce_stream_, default_stream_);
  builder_.collective(all_reduce_stream_, replicate_slot_, state.all_reduce,
                      input_.host.collective);
  if (compresses())
    stream_kernel(all_reduce_stream_, "bucket_decompress", StreamingKind::copy, wire, full);
  builder_.record(state.reduced, all_reduce_stream_);
}

void DdpEmitter::finalize_backward() {
  builder_.set_scope("backward/root");
  builder_.host_work(input_.host.finalize);
  for (BucketState& state : states_) {
    builder_.wait(default_stream_, state.reduced);
    if (compresses()) builder_.free(state.compressed);
    const std::int64_t bytes = state.bucket->elements * gradient_bytes();
    if (!views())
      stream_kernel(default_stream_, "bucket_copy_out", StreamingKind::copy, bytes, bytes,
                    state.bucket->parameters.size());
  }
}

void DdpEmitter::clip_gradient_norm() {
  builder_.set_scope("gradient_norm");
  for (const IssuedKernel& kernel : {input_.work.gradient_norm, input_.work.gradient_clip})
    builder_.kernel(default_stream_, kernel.kernel, kernel.host_time);
}

void DdpEmitter::step_optimizer() {
  builder_.set_scope("optimizer");
  for (const IssuedKernel& kernel : input_.work.optimizer)
    builder_.kernel(default_stream_, kernel.kernel, kernel.host_time);
  for (ParameterState& state : parameters_)
    if (state.has_gradient) builder_.free(state.gradient);
}

}  // namespace

Bytes all_reduce_bytes(const DdpBucket& bucket, const Training& training) {
  return Bytes(bucket.elements) * bytes_of(training.reduce_precision);
}

sim::Program emit_ddp(const DdpInput& input, StepCosts& costs) {
  return DdpEmitter(input, costs).emit();
}

}  // namespace stepsim::workloads
