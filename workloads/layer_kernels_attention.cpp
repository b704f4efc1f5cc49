// Positions and attention of both stacks.

#include "workloads/layer_kernels_ops.hpp"

namespace stepsim::workloads {

namespace {

double as_double(std::int64_t count) { return static_cast<double>(count); }

}  // namespace

ModuleOps::Tensor ModuleOps::clamp(const std::string& name, Tensor x) {
  const double size = builder_.bytes(x);
  const Tensor y = builder_.tensor(name, size);
  elementwise("clamp", size, size, {x}, {y});
  builder_.on_backward([=, this] {
    const Gradient dy = builder_.take_one(y);
    const Gradient dx = builder_.gradient(name + "_gradient", size);
    elementwise_backward("clamp", 2 * size, size, {{x}, {dy}, {dx}, {}});
    builder_.contribute(x, dx);
  });
  return y;
}

/// x·cos + rotate_half(x)·sin, op by op: two products, a negation of half, a concatenation and a
/// sum; backward the same with the halves put back into zeroed tensors. A partly rotated head is
/// also cut and put together again.
ModuleOps::Tensor ModuleOps::rotary_eager(const std::string& name, Tensor x) {
  const double size = builder_.bytes(x);
  const double rotated = size * model_.rotary_fraction;
  const bool partial = model_.rotary_fraction < 1;
  const Tensor y = builder_.tensor(name + "_rotary", size);
  elementwise("rotary", 5.5 * rotated + (partial ? size : 0), 4.5 * rotated + (partial ? size : 0),
              {x}, {y}, partial ? 6 : 5, StreamingKind::strided);
  builder_.on_backward([=, this] {
    const Gradient dy = builder_.take_one(y);
    const Gradient dx = builder_.gradient(name + "_gradient", size);
    elementwise_backward("rotary", 7.5 * rotated + (partial ? size : 0),
                         7.5 * rotated + (partial ? size : 0), {{}, {dy}, {dx}, {}},
                         partial ? 10 : 9, StreamingKind::strided);
    builder_.contribute(x, dx);
  });
  return y;
}

/// Clamping, norms and rotation of queries and keys in one kernel: read once, written once.
ModuleOps::Heads ModuleOps::position_compiled(const Heads& heads, bool rotary) {
  const bool norms = model_.query_key_norm != QueryKeyNorm::none;
  if (!norms && !rotary) return heads;
  const double size = builder_.bytes(heads.q) + builder_.bytes(heads.k);
  const Heads out{builder_.tensor("q_positioned", builder_.bytes(heads.q)),
                  builder_.tensor("k_positioned", builder_.bytes(heads.k)), heads.v};
  const StreamingKind kind = norms ? StreamingKind::norm : StreamingKind::elementwise;
  elementwise(norms ? "q_k_norm_rotary" : "rotary", size, size, {heads.q, heads.k}, {out.q, out.k},
              norms ? 2 : 1, kind);
  builder_.on_backward([=, this] {
    const Gradient dq = builder_.gradient("q_gradient", builder_.bytes(heads.q));
    const Gradient dk = builder_.gradient("k_gradient", builder_.bytes(heads.k));
    ModuleBuilder::BackwardUse use{
        {}, {builder_.take_one(out.q), builder_.take_one(out.k)}, {dq, dk}, {}};
    if (norms) {
      // The inputs are read again, and once more with the gradients to reduce the weights'.
      use.saved = {heads.q, heads.k};
      if (model_.norm_has_weight) use.parameters = {"q_norm.weight", "k_norm.weight"};
      elementwise_backward("q_k_norm_rotary", 4 * size, size, use, 6, StreamingKind::norm_backward);
    } else {
      elementwise_backward("rotary", size, size, use);
    }
    builder_.contribute(heads.q, dq);
    builder_.contribute(heads.k, dk);
  });
  return out;
}

ModuleOps::Heads ModuleOps::position(const Heads& heads, const AttentionSpan& span) {
  const bool rotary = model_.positions == Positions::rotary && span.rotary;
  if (stack_.compile) return position_compiled(heads, rotary);
  Heads out = heads;
  if (model_.clips_qkv) {
    out = {clamp("q_clamped", out.q), clamp("k_clamped", out.k), clamp("v_clamped", out.v)};
  }
  if (model_.query_key_norm != QueryKeyNorm::none) {
    out.q = norm("q_norm", out.q, model_.query_width());
    out.k = norm("k_norm", out.k, model_.kv_width());
  }
  if (rotary) {
    out.q = rotary_eager("q", out.q);
    out.k = rotary_eager("k", out.k);
  }
  return out;
}

ModuleOps::Tensor ModuleOps::attention(const Heads& heads, const AttentionSpan& span) {
  if (stack_.attention == AttentionKernel::unfused) return unfused_attention(heads);
  return flash_attention(heads, span);
}

ModuleOps::Tensor ModuleOps::flash_attention(const Heads& heads, const AttentionSpan& span) {
  Attention work;
  work.batch = batch_.sequences;
  work.query_length = work.key_length = batch_.length;
  work.heads = model_.heads;
  work.kv_heads = model_.kv_heads;
  work.head_dim = model_.head_dim;
  work.window = span.window.value_or(0);
  work.format = matrix_format(stack_.precision);
  const double queries = element_ * tokens_ * as_double(model_.query_width());
  const double keys = element_ * tokens_ * as_double(model_.kv_width());
  const Tensor out = builder_.tensor("attention", queries);
  const Tensor log_sum_exp =
      builder_.tensor("attention_log_sum_exp", 4 * tokens_ * as_double(model_.heads));
  builder_.forward({"attention", work, 1}, KernelRole::attention, {heads.q, heads.k, heads.v},
                   {out, log_sum_exp});
  builder_.on_backward([=, this] {
    const Gradient dq = builder_.gradient("q_gradient", queries);
    const Gradient dk = builder_.gradient("k_gradient", keys);
    const Gradient dv = builder_.gradient("v_gradient", keys);
    // Blocks of keys add to dq in fp32; a kernel before reduces out·dout, one after converts.
    const Gradient sum =
        builder_.gradient("dq_accumulator", 4 * queries / element_, sim::BufferKind::workspace);
    Attention gradient = work;
    gradient.backward = true;
    builder_.backward({"attention_backward", gradient, 3}, KernelRole::attention,
                      {{heads.q, heads.k, heads.v, out, log_sum_exp},
                       {builder_.take_one(out)},
                       {dq, dk, dv, sum},
                       {}});
    builder_.contribute(heads.q, dq);
    builder_.contribute(heads.k, dk);
    builder_.contribute(heads.v, dv);
  });
  return out;
}

/// Keys and values copied to every head of their group, as code without grouped kernels does.
ModuleOps::Heads ModuleOps::repeat_key_values(const Heads& heads) {
  if (model_.heads == model_.kv_heads) return heads;
  const double few = builder_.bytes(heads.k);
  const double many = builder_.bytes(heads.q);
  const Heads out{heads.q, builder_.tensor("k_repeated", many),
                  builder_.tensor("v_repeated", many)};
  elementwise("repeat_kv", 2 * few, 2 * many, {heads.k, heads.v}, {out.k, out.v}, 2,
              StreamingKind::copy);
  builder_.on_backward([=, this] {
    const Gradient dk = builder_.gradient("k_gradient", few);
    const Gradient dv = builder_.gradient("v_gradient", few);
    elementwise_backward("repeat_kv", 2 * many, 2 * few,
                         {{}, {builder_.take_one(out.k), builder_.take_one(out.v)}, {dk, dv}, {}},
                         2, StreamingKind::reduction);
    builder_.contribute(heads.k, dk);
    builder_.contribute(heads.v, dv);
  });
  return out;
}

/// Scale, mask and softmax over written-out scores. Op by op: scale, mask, softmax to fp32, cast
/// back (and a soft cap in three); compiled: one kernel.
ModuleOps::Tensor ModuleOps::attention_probabilities(Tensor scores) {
  const double size = builder_.bytes(scores);
  const double count = size / element_;
  const bool op_by_op = !stack_.compile;
  const double cap = op_by_op && model_.attention_soft_cap ? 3 : 0;
  const Tensor probabilities = builder_.tensor("attention_probabilities", size);
  std::vector<Tensor> saved = {probabilities};
  std::vector<Tensor> writes = {probabilities};
  if (op_by_op && element_ < 4) {
    const Tensor wide = builder_.tensor("attention_probabilities_fp32", 4 * count);
    saved = {wide};
    writes.push_back(wide);
  }
  const double read = op_by_op ? (3 + cap) * size + 4 * count : size;
  const double written = op_by_op ? (3 + cap) * size + 4 * count : size;
  builder_.forward({"softmax", Streaming{StreamingKind::softmax, read, written, 0},
                    op_by_op ? 4 + static_cast<int>(cap) : 1},
                   KernelRole::attention_matrix, {scores}, writes);
  builder_.on_backward([=, this] {
    const Gradient dp = builder_.take_one(probabilities);
    const Gradient ds = builder_.gradient("attention_scores_gradient", size);
    // Op by op: cast, softmax's gradient (two fp32 read, one written), cast, scale.
    const double back_read = op_by_op ? (2 + cap) * size + 12 * count : 2 * size;
    const double back_written = op_by_op ? (2 + cap) * size + 8 * count : size;
    elementwise_backward("softmax", back_read, back_written, {saved, {dp}, {ds}, {}},
                         op_by_op ? 4 + static_cast<int>(cap) : 1, StreamingKind::softmax);
    builder_.contribute(scores, ds);
  });
  return probabilities;
}

ModuleOps::Tensor ModuleOps::unfused_attention(const Heads& grouped) {
  const Heads heads = repeat_key_values(grouped);
  Gemm product;
  product.format = matrix_format(stack_.precision);
  product.batch = batch_.sequences * model_.heads;
  product.m = product.n = batch_.length;
  product.k = model_.head_dim;
  const double size = builder_.bytes(heads.q);
  const double matrix =
      element_ * as_double(product.batch) * as_double(batch_.length) * as_double(batch_.length);
  Gemm wide = product;  // matrix · (length × head_dim)
  wide.n = model_.head_dim;
  wide.k = batch_.length;
  const Tensor scores = builder_.tensor("attention_scores", matrix);
  builder_.forward({"attention_scores", product, 1}, KernelRole::attention_matrix,
                   {heads.q, heads.k}, {scores});
  builder_.on_backward([=, this] {
    const Gradient ds = builder_.take_one(scores);
    const Gradient dq = builder_.gradient("q_gradient", size);
    const Gradient dk = builder_.gradient("k_gradient", size);
    builder_.backward({"q_gradient", wide, 1}, KernelRole::attention_matrix,
                      {{heads.k}, {ds}, {dq}, {}});
    builder_.backward({"k_gradient", wide, 1}, KernelRole::attention_matrix,
                      {{heads.q}, {ds}, {dk}, {}});
    builder_.contribute(heads.q, dq);
    builder_.contribute(heads.k, dk);
  });
  const Tensor probabilities = attention_probabilities(scores);
  const Tensor out = builder_.tensor("attention", size);
  builder_.forward({"attention_context", wide, 1}, KernelRole::attention, {probabilities, heads.v},
                   {out});
  builder_.on_backward([=, this] {
    const Gradient dout = builder_.take_one(out);
    const Gradient dv = builder_.gradient("v_gradient", size);
    const Gradient dp = builder_.gradient("attention_probabilities_gradient", matrix);
    builder_.backward({"v_gradient", wide, 1}, KernelRole::attention_matrix,
                      {{probabilities}, {dout}, {dv}, {}});
    builder_.backward({"attention_probabilities_gradient", product, 1},
                      KernelRole::attention_matrix, {{heads.v}, {dout}, {dp}, {}});
    builder_.contribute(heads.v, dv);
    builder_.contribute(probabilities, dp);
  });
  return out;
}

}  // namespace stepsim::workloads
