// What comes before the blocks and after them: token and position tables, cross-entropy.

#include "workloads/layer_kernels_ops.hpp"

namespace stepsim::workloads {

namespace {

double as_double(std::int64_t count) { return static_cast<double>(count); }

}  // namespace

/// A gather reads and writes a row a token. Op by op, positions are gathered once for a sequence
/// and added by a kernel of their own.
ModuleOps::Tensor ModuleOps::embedding() {
  const double row = element_ * as_double(model_.token_width());
  const Tensor rows = builder_.tensor("embedding", row * tokens_);
  const bool learned = model_.positions == Positions::learned;
  const bool is_cut = stack_.megatron && stack_.tensor.ranks > 1;
  const bool one_kernel = stack_.compile && learned && model_.embedding_width == 0 && !is_cut;
  const double positions = element_ * as_double(model_.hidden * batch_.length);
  elementwise("embedding", row * tokens_ + (one_kernel ? positions : 0), row * tokens_, {}, {rows},
              1, StreamingKind::embedding);
  builder_.on_backward([=, this] {
    ModuleBuilder::BackwardUse use{{}, {builder_.take_one(rows)}, {}, {"embedding.weight"}};
    if (one_kernel) use.parameters.push_back("positions.weight");
    embedding_backward(use);
  });
  Tensor out = rows;
  if (model_.embedding_width > 0) {
    out = linear(rows, {"embedding_projection", model_.embedding_width, model_.hidden, false});
  }
  if (is_cut) out = reduce_embedding(out);
  if (!learned || one_kernel) return out;
  const Tensor summed = builder_.tensor("embedding_sum", builder_.bytes(out));
  elementwise("positions", builder_.bytes(out) + 2 * positions, builder_.bytes(out) + positions,
              {out}, {summed}, 2, StreamingKind::embedding);
  builder_.on_backward([=, this] {
    const Gradient gradient = builder_.take_one(summed);
    elementwise_backward("positions", builder_.bytes(summed) + positions, 2 * positions,
                         {{}, {gradient}, {}, {"positions.weight"}}, 2, StreamingKind::embedding);
    builder_.contribute(out, gradient);
  });
  return is_cut && cuts_tokens() ? scatter_tokens(summed) : summed;
}

/// A dense gradient of the whole table: zeroed, then a read and an addition of a row a token, which
/// are sorted by id first (fill, index and sort kernels, the sum; a second sum for positions).
void ModuleOps::embedding_backward(const ModuleBuilder::BackwardUse& use) {
  const double row = element_ * as_double(model_.token_width());
  const double table = row * as_double(model_.vocabulary);
  const bool positions = use.parameters.size() > 1;
  const double position_table =
      positions ? element_ * as_double(model_.hidden * model_.position_rows) : 0;
  elementwise_backward("embedding", (positions ? 3 : 2) * row * tokens_,
                       table + row * tokens_ + position_table, use, positions ? 7 : 6,
                       StreamingKind::embedding);
}

ModuleOps::Tensor ModuleOps::loss(Tensor logits) {
  if (stack_.megatron) return loss_cut_vocabulary(logits);
  if (!stack_.compile) return loss_eager(logits);
  // Two passes over the logits (maximum, then sum of exponentials); backward reads them again and
  // writes their gradient.
  const double size = builder_.bytes(logits);
  const Tensor out = builder_.tensor("loss", 4);
  const Tensor statistics = builder_.tensor("loss_statistics", 8 * tokens_);
  elementwise("cross_entropy", 2 * size + 8 * tokens_, 8 * tokens_, {logits}, {out, statistics}, 2,
              StreamingKind::softmax);
  builder_.on_backward([=, this] {
    const Gradient loss_gradient = builder_.take_one(out);
    const Gradient gradient = builder_.gradient("logits_gradient", size, sim::BufferKind::logits);
    elementwise_backward("cross_entropy", size + 8 * tokens_, size,
                         {{logits, statistics}, {loss_gradient}, {gradient}, {}}, 1,
                         StreamingKind::softmax);
    builder_.contribute(logits, gradient);
  });
  return out;
}

/// As written in PyTorch: soft cap in three kernels, cast to fp32, log-softmax, and the mean of the
/// targets' entries. The model's output keeps the logits until backward is done with them.
ModuleOps::Tensor ModuleOps::loss_eager(Tensor logits) {
  const double size = builder_.bytes(logits);
  const double wide = 4 * size / element_;
  const bool casts = element_ < 4;
  const int cap = model_.logit_soft_cap ? 3 : 0;
  const Tensor fp32 =
      casts ? builder_.tensor("logits_fp32", wide, sim::BufferKind::logits) : logits;
  if (casts || cap > 0) {
    elementwise("logits_cast", (cap + (casts ? 1 : 0)) * size, cap * size + (casts ? wide : 0),
                {logits}, casts ? std::vector<Tensor>{fp32} : std::vector<Tensor>{},
                cap + (casts ? 1 : 0), StreamingKind::copy);
  }
  const Tensor log_softmax = builder_.tensor("log_softmax", wide, sim::BufferKind::logits);
  elementwise("log_softmax", wide, wide, {fp32}, {log_softmax}, 1, StreamingKind::softmax);
  const Tensor out = builder_.tensor("loss", 4);
  elementwise("nll_loss", 12 * tokens_, 4, {log_softmax}, {out}, 1, StreamingKind::reduction);
  builder_.on_backward([=, this] {
    const Gradient dloss = builder_.take_one(out);
    const Gradient sparse = builder_.gradient("nll_gradient", wide, sim::BufferKind::logits);
    elementwise_backward("nll_loss", 8 * tokens_, wide, {{}, {dloss}, {sparse}, {}}, 2,
                         StreamingKind::elementwise);
    const Gradient dense = builder_.gradient("log_softmax_gradient", wide, sim::BufferKind::logits);
    elementwise_backward("log_softmax", 2 * wide, wide,
                         {{log_softmax, logits}, {sparse}, {dense}, {}}, 1, StreamingKind::softmax);
    if (!casts && cap == 0) return builder_.contribute(logits, dense);
    const Gradient gradient = builder_.gradient("logits_gradient", size, sim::BufferKind::logits);
    elementwise_backward("logits_cast", (casts ? wide : 0) + 1.5 * cap * size,
                         (casts ? size : 0) + cap * size, {{}, {dense}, {gradient}, {}},
                         cap + (casts ? 1 : 0), StreamingKind::copy);
    builder_.contribute(logits, gradient);
  });
  return out;
}

}  // namespace stepsim::workloads
