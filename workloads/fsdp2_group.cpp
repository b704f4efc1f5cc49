#include "workloads/fsdp2_group.hpp"

#include <string>

namespace stepsim::workloads {
namespace {

Kernel copy(const char* name, std::int64_t read, std::int64_t written) {
  return streaming_kernel(name, StreamingKind::copy, read, written);
}

Kernel add(const char* name, std::int64_t read, std::int64_t written) {
  return streaming_kernel(name, StreamingKind::elementwise, read, written);
}

Fsdp2Buffers add_buffers(const ParameterGroup& group, const Fsdp2Input& input,
                         sim::ProgramBuilder& builder) {
  using sim::BufferKind;
  const Fsdp2Precision precision = fsdp2_precision(input.training);
  const std::int64_t full = group.padded_elements;
  const std::int64_t local = full / input.plan.shard;
  const auto buffer = [&](const char* name, BufferKind kind, std::int64_t bytes) {
    return builder.add_buffer(group.name + "/" + name, kind, Bytes(bytes));
  };
  builder.add_persistent_buffer(group.name + "/parameters", BufferKind::parameters,
                                Bytes(precision.stored * local));
  builder.add_persistent_buffer(group.name + "/adam_moments", BufferKind::optimizer_states,
                                Bytes(2 * precision.stored * local));
  Fsdp2Buffers buffers;
  buffers.gather_input =
      buffer("all_gather_input", BufferKind::communication, precision.compute * local);
  buffers.gather_output =
      buffer("all_gather_output", BufferKind::communication, precision.compute * full);
  for (const std::uint32_t p : group.parameters) {
    const Parameter& parameter = input.work.parameters[p];
    buffers.unsharded_parameters.push_back(
        builder.add_buffer(parameter.name + "/unsharded", BufferKind::unsharded_parameters,
                           Bytes(precision.compute * padded_count(parameter, input.plan.shard))));
  }
  buffers.accumulated_gradient = buffer("accumulated_gradient", BufferKind::unsharded_gradients,
                                        precision.reduce * group.elements);
  buffers.reduce_input =
      buffer("reduce_scatter_input", BufferKind::communication, precision.reduce * full);
  buffers.reduce_output =
      buffer("reduce_scatter_output", BufferKind::communication, precision.reduce * local);
  buffers.cast_gradient = buffer("cast_gradient", BufferKind::gradients, precision.stored * local);
  buffers.sharded_gradient =
      buffer("sharded_gradient", BufferKind::gradients, precision.stored * local);
  return buffers;
}

Fsdp2Kernels add_kernels(const ParameterGroup& group, const Plan& plan, const Training& training,
                         StepCosts& costs) {
  const auto [stored, compute, reduce] = fsdp2_precision(training);
  const std::int64_t full = group.padded_elements;
  const std::int64_t local = full / plan.shard;
  const std::int64_t own = group.elements;  // unpadded
  Fsdp2Kernels k;
  if (training.precision != training.parameter_precision)
    k.gather_cast = costs.kernel(copy("all_gather_cast", stored * local, compute * local));
  k.gather_copy_in = costs.kernel(copy("all_gather_copy_in", compute * local, compute * local));
  k.copy_out = costs.kernel(copy("all_gather_copy_out", compute * full, compute * full));
  k.reduce_copy_in = costs.kernel(copy("reduce_scatter_copy_in", compute * own, reduce * full));
  k.reduce_copy_in_accumulated =
      costs.kernel(copy("reduce_scatter_copy_in", reduce * own, reduce * full));
  k.accumulate_unsharded =
      costs.kernel(add("gradient_accumulate", (compute + reduce) * own, reduce * own));
  if (training.reduce_precision != training.precision)
    k.cast_unsharded = costs.kernel(copy("gradient_cast", compute * own, reduce * own));
  if (training.reduce_precision == DType::fp16) {
    k.predivide = costs.kernel(add("gradient_divide", reduce * full, reduce * full));
    k.postdivide = costs.kernel(add("gradient_divide", reduce * local, reduce * local));
  }
  k.local_copy = costs.kernel(copy("gradient_copy", reduce * local, reduce * local));
  if (training.reduce_precision != training.parameter_precision)
    k.cast_gradient = costs.kernel(copy("gradient_cast", reduce * local, stored * local));
  k.accumulate = costs.kernel(add("gradient_accumulate", 2 * stored * local, stored * local));
  return k;
}

}  // namespace

Fsdp2Precision fsdp2_precision(const Training& training) {
  return {bytes_of(training.parameter_precision), bytes_of(training.precision),
          bytes_of(training.reduce_precision)};
}

Bytes all_gather_bytes(const ParameterGroup& group, const Training& training) {
  return Bytes(group.padded_elements) * bytes_of(training.precision);
}

Bytes reduce_scatter_bytes(const ParameterGroup& group, const Training& training) {
  return Bytes(group.padded_elements) * bytes_of(training.reduce_precision);
}

Fsdp2Group make_fsdp2_group(const ParameterGroup& group, std::size_t index, const Fsdp2Input& input,
                            StepCosts& costs, sim::ProgramBuilder& builder) {
  const Plan& plan = input.plan;
  const Training& training = input.training;
  using topology::Collective;
  Fsdp2Group made;
  made.group = &group;
  made.index = index;
  made.buffers = add_buffers(group, input, builder);
  made.kernels = add_kernels(group, plan, training, costs);
  made.events = {builder.add_event(), builder.add_event(), builder.add_event(),
                 builder.add_event()};
  if (plan.shard > 1) {
    made.all_gather =
        costs.collective(Collective::all_gather, "shard", all_gather_bytes(group, training));
    made.reduce_scatter = costs.collective(Collective::reduce_scatter, "shard",
                                           reduce_scatter_bytes(group, training));
  }
  if (plan.replicate > 1) {
    const Bytes shard_bytes(reduce_scatter_bytes(group, training).count() / plan.shard);
    made.all_reduce = costs.collective(Collective::all_reduce, "replicate", shard_bytes);
  }
  return made;
}

}  // namespace stepsim::workloads
