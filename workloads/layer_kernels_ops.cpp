#include "workloads/layer_kernels_ops.hpp"

#include <utility>

namespace stepsim::workloads {

namespace {

double as_double(std::int64_t count) { return static_cast<double>(count); }

Kernel streaming(const std::string& name, StreamingKind kind, double read, double written,
                 int launches) {
  Streaming work;
  work.kind = kind;
  work.bytes_read = read;
  work.bytes_written = written;
  return {name, work, launches};
}

}  // namespace

ModuleOps::ModuleOps(ModuleBuilder& builder, const Model& model, const TokenBatch& batch,
                     const KernelStack& stack)
    : builder_(builder),
      model_(model),
      batch_(batch),
      stack_(stack),
      tokens_(as_double(batch.tokens())),
      element_(as_double(bytes_of(stack.precision))) {}

void ModuleOps::elementwise(const std::string& name, double read, double written,
                            const std::vector<Tensor>& reads, const std::vector<Tensor>& writes,
                            int launches, StreamingKind kind) {
  builder_.forward(streaming(name, kind, read, written, launches), KernelRole::other, reads,
                   writes);
}

void ModuleOps::elementwise_backward(const std::string& name, double read, double written,
                                     const ModuleBuilder::BackwardUse& use, int launches,
                                     StreamingKind kind) {
  builder_.backward(streaming(name + "_backward", kind, read, written, launches), KernelRole::other,
                    use);
}

ModuleOps::Tensor ModuleOps::linear(Tensor x, const Linear& layer) {
  if (stack_.megatron && layer.cut == Cut::column) return column_linear(x, layer);
  if (stack_.megatron && layer.cut == Cut::row) return row_linear(x, layer);
  const Tensor y =
      builder_.tensor(layer.name, element_ * tokens_ * as_double(layer.outputs), layer.output);
  const Gemm gemm = product_of(layer);
  builder_.forward({layer.name, gemm, 1}, KernelRole::matrix_product, {x}, {y});
  builder_.on_backward([=, this] { linear_backward(x, y, layer, gemm); });
  return y;
}

Gemm ModuleOps::product_of(const Linear& layer) const {
  Gemm gemm;
  gemm.format = matrix_format(stack_.precision);
  gemm.m = batch_.tokens();
  gemm.n = layer.outputs;
  gemm.k = layer.inputs;
  return gemm;
}

void ModuleOps::linear_backward(Tensor x, Tensor y, const Linear& layer, Gemm product) {
  const Gradient dy = builder_.take_one(y);
  const Gradient dx = builder_.gradient(layer.name + "_input_gradient", builder_.bytes(x));
  product.pass = Pass::input_gradient;
  product.n = layer.inputs;
  product.k = layer.outputs;
  builder_.backward({layer.name + "_dgrad", product, 1}, KernelRole::matrix_product,
                    {{}, {dy}, {dx}, {}});
  product.pass = Pass::weight_gradient;
  product.m = layer.outputs;
  product.n = layer.inputs;
  product.k = batch_.tokens();
  const std::string weight = layer.weight.empty() ? layer.name : layer.weight;
  builder_.backward({layer.name + "_wgrad", product, 1}, KernelRole::matrix_product,
                    {{x}, {dy}, {}, {weight + ".weight"}});
  bias_gradient(layer, dy, builder_.bytes(y));
  builder_.contribute(x, dx);
}

void ModuleOps::bias_gradient(const Linear& layer, Gradient dy, double bytes) {
  if (!layer.bias) return;
  elementwise_backward(layer.name + "_bias", bytes, element_ * as_double(layer.outputs),
                       {{}, {dy}, {}, {layer.name + ".bias"}}, 1, StreamingKind::reduction);
}

ModuleOps::Tensor ModuleOps::residual(const std::vector<Tensor>& terms) {
  if (!stack_.compile && terms.size() > 2) {
    return residual({residual({terms[0], terms[1]}), terms[2]});
  }
  const double size = builder_.bytes(terms.front());
  const Tensor sum = builder_.tensor("residual", size);
  elementwise("residual", size * as_double(static_cast<std::int64_t>(terms.size())), size, terms,
              {sum});
  builder_.on_backward([=, this] {
    const Gradient gradient = builder_.take_one(sum);
    for (const Tensor term : terms) builder_.contribute(term, gradient);
  });
  return sum;
}

ModuleOps::Tensor ModuleOps::activation(Tensor x) {
  const double size = builder_.bytes(x);
  const bool squared = model_.activation == Activation::squared_relu;
  const bool in_two_steps = squared && !stack_.compile;
  const bool keeps_result = model_.activation == Activation::relu;
  const std::string name = to_string(model_.activation);
  Tensor saved = x;
  if (in_two_steps) {
    saved = builder_.tensor("relu", size);
    elementwise("relu", size, size, {x}, {saved});
  }
  const Tensor y = builder_.tensor("activation", size);
  elementwise("activation", size, size, {saved}, {y});
  builder_.on_backward([=, this] {
    const Gradient dy = builder_.take_one(y);
    const Gradient dx = builder_.gradient("activation_input_gradient", size);
    const Tensor kept = keeps_result ? y : saved;
    // Op by op, the square's gradient is two kernels (2·x·g, then a constant) and relu's another.
    const double read = in_two_steps ? 5 * size : 2 * size;
    const double written = in_two_steps ? 3 * size : size;
    elementwise_backward("activation", read, written, {{kept}, {dy}, {dx}, {}},
                         in_two_steps ? 3 : 1);
    builder_.contribute(x, dx);
  });
  return y;
}

ModuleOps::Tensor ModuleOps::gated_activation(Tensor gate, Tensor up) {
  const double size = builder_.bytes(gate);
  const Tensor product = builder_.tensor("gated_activation", size);
  std::vector<Tensor> saved = {gate, up};
  if (stack_.compile) {
    elementwise("gated_activation", 2 * size, size, {gate, up}, {product});
  } else {
    const Tensor activated = builder_.tensor("activation", size);
    elementwise("activation", size, size, {gate}, {activated});
    elementwise("gate", 2 * size, size, {activated, up}, {product});
    saved.push_back(activated);
  }
  builder_.on_backward([=, this] {
    const Gradient dy = builder_.take_one(product);
    const Gradient dgate = builder_.gradient("gate_gradient", size);
    const Gradient dup = builder_.gradient("up_gradient", size);
    // Compiled: reads dy, gate, up and writes both. Op by op: d(up), d(activated) and d(gate), each
    // reading two and writing one.
    const double read = stack_.compile ? 3 * size : 6 * size;
    const double written = stack_.compile ? 2 * size : 3 * size;
    elementwise_backward("gated_activation", read, written, {saved, {dy}, {dgate, dup}, {}},
                         stack_.compile ? 1 : 3);
    builder_.contribute(gate, dgate);
    builder_.contribute(up, dup);
  });
  return product;
}

ModuleOps::Pair ModuleOps::split_in_two(Tensor whole, std::int64_t width) {
  const double half = element_ * tokens_ * as_double(width);
  const Tensor first = builder_.view(whole, half);
  const Tensor second = builder_.view(whole, half);
  builder_.on_backward([=, this] {
    // The two gradients are copied side by side.
    const Gradient gradient = builder_.gradient("gate_up_gradient", 2 * half);
    elementwise_backward(
        "gate_up", 2 * half, 2 * half,
        {{}, {builder_.take_one(first), builder_.take_one(second)}, {gradient}, {}}, 1,
        StreamingKind::copy);
    builder_.contribute(whole, gradient);
  });
  return {first, second};
}

ModuleOps::Heads ModuleOps::split_heads(Tensor qkv) {
  const double queries = element_ * tokens_ * as_double(model_.query_width());
  const double keys = element_ * tokens_ * as_double(model_.kv_width());
  const Heads heads{builder_.view(qkv, queries), builder_.view(qkv, keys),
                    builder_.view(qkv, keys)};
  builder_.on_backward([=, this] {
    const double size = builder_.bytes(qkv);
    const Gradient gradient = builder_.gradient("qkv_gradient", size);
    elementwise_backward(
        "qkv", size, size,
        {{},
         {builder_.take_one(heads.q), builder_.take_one(heads.k), builder_.take_one(heads.v)},
         {gradient},
         {}},
        1, StreamingKind::copy);
    builder_.contribute(qkv, gradient);
  });
  return heads;
}

}  // namespace stepsim::workloads
