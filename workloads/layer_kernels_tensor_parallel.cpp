// Matrices, embedding and loss cut over a tensor-parallel group, as Megatron-LM core computes them
// (core/tensor_parallel/layers.py, mappings.py, cross_entropy.py). With a group of one the same
// kernels run without collectives.

#include "workloads/layer_kernels_ops.hpp"

namespace stepsim::workloads {

namespace {

using topology::Collective;
using Joins = ModuleBuilder::Joins;

double as_double(std::int64_t count) { return static_cast<double>(count); }

std::string weight_of(const ModuleOps::Linear& layer) {
  return (layer.weight.empty() ? layer.name : layer.weight) + ".weight";
}

}  // namespace

Kernel ModuleOps::input_gradient_kernel(const Linear& layer) const {
  Gemm product = product_of(layer);
  product.pass = Pass::input_gradient;
  product.n = layer.inputs;
  product.k = layer.outputs;
  return {layer.name + "_dgrad", product, 1};
}

/// Adds to the fp32 main gradient in the product itself (gradient_accumulation_fusion).
Kernel ModuleOps::weight_gradient_kernel(const Linear& layer) const {
  Gemm product = product_of(layer);
  product.pass = Pass::weight_gradient;
  product.m = layer.outputs;
  product.n = layer.inputs;
  product.k = batch_.tokens();
  product.accumulates = true;
  return {layer.name + "_wgrad", product, 1};
}

/// Tokens of all ranks are gathered first when norms work on a part of them; what is gathered is
/// not kept.
ModuleOps::Tensor ModuleOps::column_linear(Tensor x, const Linear& layer) {
  const double width = element_ * tokens_;
  Tensor whole = x;
  if (cuts_tokens()) {
    const double gathered = width * as_double(layer.inputs);
    whole = builder_.tensor(layer.name + "_gathered_input", gathered);
    builder_.forward_collective(Collective::all_gather, gathered, {x}, {whole});
  }
  const Tensor y = builder_.tensor(layer.name, width * as_double(layer.outputs), layer.output);
  builder_.forward({layer.name, product_of(layer), 1}, KernelRole::matrix_product, {whole}, {y});
  builder_.on_backward([=, this] { column_backward(x, y, layer); });
  return y;
}

/// Sums the input's gradient over ranks, each keeping its tokens when they are cut.
ModuleOps::Gradient ModuleOps::reduce_input_gradient(const Linear& layer, Gradient full,
                                                     Joins joins) {
  const double bytes = element_ * tokens_ * as_double(layer.inputs);
  if (stack_.tensor.ranks == 1) return full;
  if (!cuts_tokens()) {
    builder_.backward_collective(Collective::all_reduce, bytes, {{}, {full}, {full}, {}}, joins);
    return full;
  }
  const Gradient part = builder_.gradient(layer.name + "_input_gradient", cut_tokens(bytes));
  builder_.backward_collective(Collective::reduce_scatter, bytes, {{}, {full}, {part}, {}}, joins);
  return part;
}

/// The input is gathered again beside its gradient's product, and the gradient is summed beside the
/// weight's product (LinearWithGradAccumulationAndAsyncCommunication). Delayed weight gradients
/// have nothing beside them.
void ModuleOps::column_backward(Tensor x, Tensor y, const Linear& layer) {
  const bool delayed = stack_.delays_weight_gradients;
  const double whole = element_ * tokens_ * as_double(layer.inputs);
  const Gradient dy = builder_.take_one(y);
  std::optional<Gradient> gathered;
  const auto gather = [=, this](Joins joins) {
    const Gradient input =
        builder_.gradient(layer.name + "_gathered_input", whole, sim::BufferKind::workspace);
    builder_.backward_collective(Collective::all_gather, whole, {{x}, {}, {input}, {}}, joins);
    return input;
  };
  if (cuts_tokens() && !delayed) gathered = gather(Joins::later);
  const Gradient full = builder_.gradient(layer.name + "_input_gradient", whole);
  builder_.backward(input_gradient_kernel(layer), KernelRole::matrix_product,
                    {{}, {dy}, {full}, {}});
  if (gathered) builder_.backward_join({{x}, {}, {}, {}});
  const Gradient dx = reduce_input_gradient(layer, full, delayed ? Joins::now : Joins::later);
  builder_.weight_gradient([=, this] {
    std::vector<Gradient> reads = {dy};
    if (gathered) reads.push_back(*gathered);
    if (cuts_tokens() && delayed) reads.push_back(gather(Joins::now));
    builder_.backward(weight_gradient_kernel(layer), KernelRole::matrix_product,
                      {{x}, reads, {}, {weight_of(layer)}});
    bias_gradient(layer, dy, builder_.bytes(y));
  });
  if (!delayed && stack_.tensor.ranks > 1) builder_.backward_join({{}, {full}, {}, {}});
  builder_.contribute(x, dx);
}

/// Every rank's part of the sum is a whole output; the sum is scattered over tokens when they are
/// cut. The bias is added after the sum.
ModuleOps::Tensor ModuleOps::row_linear(Tensor x, const Linear& layer) {
  const double whole = element_ * tokens_ * as_double(layer.outputs);
  const Tensor product = builder_.tensor(layer.name, whole, layer.output);
  builder_.forward({layer.name, product_of(layer), 1}, KernelRole::matrix_product, {x}, {product});
  Tensor y = product;
  if (cuts_tokens()) {
    y = builder_.tensor(layer.name + "_sum", cut_tokens(whole));
    builder_.forward_collective(Collective::reduce_scatter, whole, {product}, {y});
  } else if (stack_.tensor.ranks > 1) {
    builder_.forward_collective(Collective::all_reduce, whole, {product}, {});
  }
  builder_.on_backward([=, this] { row_backward(x, y, layer); });
  return y;
}

void ModuleOps::row_backward(Tensor x, Tensor y, const Linear& layer) {
  const double whole = element_ * tokens_ * as_double(layer.outputs);
  const Gradient part = builder_.take_one(y);
  Gradient dy = part;
  if (cuts_tokens()) {
    dy = builder_.gradient(layer.name + "_gathered_gradient", whole, sim::BufferKind::workspace);
    builder_.backward_collective(Collective::all_gather, whole, {{}, {part}, {dy}, {}}, Joins::now);
  }
  const Gradient dx = builder_.gradient(layer.name + "_input_gradient", builder_.bytes(x));
  builder_.backward(input_gradient_kernel(layer), KernelRole::matrix_product, {{}, {dy}, {dx}, {}});
  builder_.weight_gradient([=, this] {
    builder_.backward(weight_gradient_kernel(layer), KernelRole::matrix_product,
                      {{x}, {dy}, {}, {weight_of(layer)}});
    bias_gradient(layer, part, builder_.bytes(y));
  });
  builder_.contribute(x, dx);
}

/// Each rank has looked up the tokens of its part of the vocabulary; the others' rows are zero.
ModuleOps::Tensor ModuleOps::reduce_embedding(Tensor rows) {
  const double whole = builder_.bytes(rows);
  // Position embeddings are added to whole sums, which are scattered after that.
  if (!cuts_tokens() || model_.positions == Positions::learned) {
    builder_.forward_collective(Collective::all_reduce, whole, {rows}, {});
    return rows;
  }
  const Tensor sum = builder_.tensor("embedding_sum", cut_tokens(whole));
  builder_.forward_collective(Collective::reduce_scatter, whole, {rows}, {sum});
  builder_.on_backward([=, this] {
    const Gradient part = builder_.take_one(sum);
    const Gradient gradient = builder_.gradient("embedding_gathered_gradient", whole);
    builder_.backward_collective(Collective::all_gather, whole, {{}, {part}, {gradient}, {}},
                                 Joins::now);
    builder_.contribute(rows, gradient);
  });
  return sum;
}

/// Every rank copies its tokens out; gradients of all tokens are gathered.
ModuleOps::Tensor ModuleOps::scatter_tokens(Tensor x) {
  const double whole = builder_.bytes(x);
  const double part = cut_tokens(whole);
  const Tensor y = builder_.tensor("scattered", part);
  elementwise("scatter", part, part, {x}, {y}, 1, StreamingKind::copy);
  builder_.on_backward([=, this] {
    const Gradient dy = builder_.take_one(y);
    const Gradient dx = builder_.gradient("scattered_gathered_gradient", whole);
    builder_.backward_collective(Collective::all_gather, whole, {{}, {dy}, {dx}, {}}, Joins::now);
    builder_.contribute(x, dx);
  });
  return y;
}

/// vocab_parallel_cross_entropy: logits to fp32; the maximum, the target's logit and the sum of
/// exponentials are each reduced over ranks; the fp32 tensor becomes exponentials, then the
/// softmax, in place, and is kept for backward.
ModuleOps::Tensor ModuleOps::loss_cut_vocabulary(Tensor logits) {
  const double size = builder_.bytes(logits);
  const double wide = 4 * size / element_;
  const double row = 4 * tokens_;
  const Tensor softmax = builder_.tensor("softmax", wide, sim::BufferKind::logits);
  const Tensor statistics = builder_.tensor("loss_statistics", 3 * row);
  elementwise("logits_cast", size, wide, {logits}, {softmax}, 1, StreamingKind::copy);
  elementwise("logits_maximum", wide, row, {softmax}, {statistics}, 1, StreamingKind::reduction);
  const auto reduce = [&] {
    if (stack_.tensor.ranks > 1)
      builder_.forward_collective(Collective::all_reduce, row, {statistics}, {});
  };
  reduce();
  elementwise("logits_shift", wide, wide, {softmax, statistics}, {});
  elementwise("target_logits", 2 * row, row, {softmax, statistics}, {}, 4);
  reduce();
  elementwise("logits_exponential", wide, wide, {softmax}, {});
  elementwise("exponential_sum", wide, row, {softmax, statistics}, {}, 1, StreamingKind::reduction);
  reduce();
  const Tensor out = builder_.tensor("loss", 4);
  elementwise("loss", 2 * row, row, {statistics}, {out}, 3, StreamingKind::reduction);
  elementwise("softmax_divide", wide, wide, {softmax, statistics}, {});
  builder_.on_backward([=, this] { loss_cut_vocabulary_backward(logits, softmax, out); });
  return out;
}

/// The softmax becomes the gradient in place, is scaled, and is cast back.
void ModuleOps::loss_cut_vocabulary_backward(Tensor logits, Tensor softmax, Tensor out) {
  const double size = builder_.bytes(logits);
  const double wide = builder_.bytes(softmax);
  const Gradient dloss = builder_.take_one(out);
  const Gradient gradient = builder_.gradient("logits_gradient", size, sim::BufferKind::logits);
  elementwise_backward("cross_entropy", wide + 4 * tokens_, wide, {{softmax}, {dloss}, {}, {}}, 3);
  elementwise_backward("logits_cast", wide, size, {{softmax}, {}, {gradient}, {}}, 1,
                       StreamingKind::copy);
  builder_.contribute(logits, gradient);
}

}  // namespace stepsim::workloads
