#include "tests/workloads/fake_step.hpp"

#include <algorithm>

namespace stepsim::workloads::testing {
namespace {

bool starts_with(const std::string& text, const std::string& prefix) {
  return text.rfind(prefix, 0) == 0;
}

bool ends_with(const std::string& text, const std::string& suffix) {
  return text.size() >= suffix.size() &&
         text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

class WorkMaker {
 public:
  WorkMaker(const FakeModel& model, StepCosts& costs, Time host)
      : model_(model), costs_(costs), host_(host) {
    work_.launch_host_time = host;
  }

  StepWork make() {
    add_kinds();
    add_module("embedding", 0, {{"embedding.weight", {model_.vocabulary, model_.hidden}}});
    for (int i = 0; i < model_.layers; ++i) {
      const std::string name = "layers." + std::to_string(i);
      add_module(name, 1,
                 {{name + ".norm", {model_.hidden}},
                  {name + ".in", {3 * model_.hidden + 1, model_.hidden}},
                  {name + ".out", {model_.hidden, 3 * model_.hidden}}});
      work_.modules.back().recompute = model_.recompute;
    }
    add_module("head", 2, {{"norm", {model_.hidden}}});
    if (model_.tied) {
      work_.modules.back().parameters.push_back(0);
    } else {
      work_.parameters.push_back({"head.weight", {model_.vocabulary, model_.hidden}});
      work_.modules.back().parameters.push_back(std::uint32_t(work_.parameters.size() - 1));
    }
    work_.gradient_norm = kernel("gradient_norm");
    work_.gradient_clip = kernel("gradient_clip");
    work_.optimizer = {kernel("optimizer")};
    return std::move(work_);
  }

 private:
  IssuedKernel kernel(const char* name, KernelRole role = KernelRole::other) {
    return {costs_.kernel(streaming_kernel(name, StreamingKind::elementwise, 0, 0)), host_, role};
  }

  void add_kinds() {
    ModuleWork embedding;
    embedding.forward = {kernel("compute_embedding")};
    embedding.backward = {kernel("compute_embedding_backward")};
    embedding.parameter_gradients = {{0, 0}};
    work_.kinds.push_back(embedding);
    work_.kinds.push_back(block());
    ModuleWork head;
    head.forward = {kernel("compute_norm"), kernel("compute_head")};
    head.backward = {kernel("compute_head_gradient"), kernel("compute_norm_backward")};
    head.activations = {{"logits", sim::BufferKind::logits, model_.activation, 1, 1, 0}};
    head.parameter_gradients = {{1, 0}, {0, 1}};
    head.input_size = model_.activation;
    head.input_last_backward_use = 1;
    head.input_gradient_written_by = 1;
    head.output_written_by = 1;
    work_.kinds.push_back(head);
  }

  ModuleWork block() {
    ModuleWork work;
    work.forward = {kernel("compute_norm"), kernel("compute_in", KernelRole::matrix_product),
                    kernel("compute_out", KernelRole::matrix_product)};
    work.backward = {kernel("compute_out_gradient"), kernel("compute_in_gradient"),
                     kernel("compute_in_weight"), kernel("compute_norm_backward")};
    using sim::BufferKind;
    work.activations = {{"normed", BufferKind::activations, model_.activation, 0, 1, 2},
                        {"inner", BufferKind::activations, model_.activation, 1, 2, 0}};
    work.backward_tensors = {{"inner_gradient", BufferKind::activations, model_.activation, 0, 2}};
    work.parameter_gradients = {{2, 0}, {1, 2}, {0, 3}};
    work.input_size = model_.activation;
    work.input_last_backward_use = 3;
    work.output_written_by = 2;
    work.input_gradient_written_by = 3;
    work.output_gradient_last_use = 0;
    return work;
  }

  void add_module(const std::string& name, std::size_t kind, std::vector<Parameter> parameters) {
    Module module;
    module.name = name;
    module.work = kind;
    for (Parameter& parameter : parameters) {
      module.parameters.push_back(std::uint32_t(work_.parameters.size()));
      work_.parameters.push_back(std::move(parameter));
    }
    work_.modules.push_back(std::move(module));
  }

  const FakeModel& model_;
  StepCosts& costs_;
  Time host_;
  StepWork work_;
};

}  // namespace

sim::KernelCost ConstantCosts::kernel(const Kernel& kernel) const {
  sim::KernelCost cost;
  cost.name = kernel.name;
  cost.category = "elementwise";
  cost.time =
      Time::from_seconds((starts_with(kernel.name, "compute") ? compute_us : copy_us) / 1e6);
  return cost;
}

sim::CollectiveCost ConstantCosts::collective(topology::Collective, Bytes bytes,
                                              const topology::GroupShape&) const {
  sim::CollectiveCost cost;
  cost.latency = Time::from_seconds(latency_us / 1e6);
  if (gigabytes_per_second > 0)
    cost.transfer = transfer_time(bytes, Bandwidth::gigabytes_per_second(gigabytes_per_second));
  return cost;
}

StepWork fake_work(const FakeModel& model, StepCosts& costs, Time launch_host_time) {
  return WorkMaker(model, costs, launch_host_time).make();
}

topology::Cluster fake_cluster(int gpus) {
  topology::Cluster cluster;
  cluster.node.gpus = 8;
  cluster.node.nics.value = 8;
  cluster.nodes = (gpus + 7) / 8;
  cluster.gpus = gpus;
  return cluster;
}

std::vector<TimedOp> Executed::named(const std::string& name) const {
  std::vector<TimedOp> found;
  std::copy_if(ops.begin(), ops.end(), std::back_inserter(found),
               [&](const TimedOp& op) { return op.name == name; });
  return found;
}

std::vector<TimedOp> Executed::on_stream(const std::string& stream) const {
  std::vector<TimedOp> found;
  std::copy_if(ops.begin(), ops.end(), std::back_inserter(found),
               [&](const TimedOp& op) { return op.stream == stream; });
  return found;
}

Bytes Executed::collective_bytes(const std::string& name, const std::string& group) const {
  Bytes sum;
  for (const TimedOp& op : ops)
    if (op.name == name && op.group == group) sum += op.bytes;
  return sum;
}

Executed execute_job(sim::Job job, sim::Rank rank) {
  sim::check_job(job);
  sim::Execution execution = sim::execute(job);
  const std::vector<sim::OpTimes> times = sim::replay(job, execution, rank);
  std::vector<TimedOp> ops;
  const sim::Program& program = job.programs.front();
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    const sim::Op& op = program.ops[i];
    const bool is_kernel = op.kind == sim::OpKind::kernel;
    if (!is_kernel && op.kind != sim::OpKind::collective) continue;
    TimedOp timed;
    timed.scope = program.scopes[op.scope.index()];
    timed.stream = program.streams[op.stream.index()].name;
    timed.start = times[i].start;
    timed.end = times[i].end;
    timed.name = is_kernel ? job.kernels[op.target].name : job.collectives[op.target].name;
    if (!is_kernel) {
      timed.group = job.collectives[op.target].group;
      timed.bytes = job.collectives[op.target].bytes;
    }
    ops.push_back(std::move(timed));
  }
  return {std::move(job), std::move(execution), std::move(ops)};
}

std::vector<MemoryEvent> memory_events(const sim::Program& program) {
  std::vector<MemoryEvent> events;
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    const sim::Op& op = program.ops[i];
    if (op.kind != sim::OpKind::allocate && op.kind != sim::OpKind::free) continue;
    const sim::Buffer& buffer = program.buffers[op.target];
    events.push_back(
        {std::uint32_t(i), op.kind == sim::OpKind::allocate, buffer.name, buffer.size});
  }
  return events;
}

int most_held(const sim::Program& program, const std::string& suffix) {
  int held = 0;
  int most = 0;
  for (const MemoryEvent& event : memory_events(program)) {
    if (!ends_with(event.buffer, suffix)) continue;
    held += event.allocates ? 1 : -1;
    most = std::max(most, held);
  }
  return most;
}

}  // namespace stepsim::workloads::testing
