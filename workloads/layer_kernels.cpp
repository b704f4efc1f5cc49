#include "workloads/layer_kernels.hpp"

#include "workloads/layer_kernels_ops.hpp"

namespace stepsim::workloads {

namespace {

using Tensor = ModuleBuilder::Tensor;

ModuleOps::Linear column(const char* name, std::int64_t inputs, std::int64_t outputs, bool bias) {
  ModuleOps::Linear layer{name, inputs, outputs, bias};
  layer.cut = ModuleOps::Cut::column;
  return layer;
}

ModuleOps::Linear row(const char* name, std::int64_t inputs, std::int64_t outputs, bool bias) {
  ModuleOps::Linear layer{name, inputs, outputs, bias};
  layer.cut = ModuleOps::Cut::row;
  return layer;
}

Tensor attention_part(ModuleOps& ops, const Model& model, const AttentionSpan& span, Tensor x) {
  const std::int64_t queries = model.query_width();
  const std::int64_t keys = model.kv_width();
  ModuleOps::Heads heads{};
  if (model.fused_qkv) {
    heads = ops.split_heads(
        ops.linear(x, column("qkv", model.hidden, queries + 2 * keys, model.qkv_bias)));
  } else {
    heads.q = ops.linear(x, {"q", model.hidden, queries, model.qkv_bias});
    heads.k = ops.linear(x, {"k", model.hidden, keys, model.qkv_bias});
    heads.v = ops.linear(x, {"v", model.hidden, keys, model.qkv_bias});
  }
  const Tensor context = ops.attention(ops.position(heads, span), span);
  return ops.linear(context, row("output", queries, model.hidden, model.attention_output_bias));
}

Tensor gated_inner(ModuleOps& ops, const Model& model, Tensor x) {
  if (model.fused_gate_up) {
    const Tensor both =
        ops.linear(x, column("gate_up", model.hidden, 2 * model.ffn, model.mlp_bias));
    const ModuleOps::Pair halves = ops.split_in_two(both, model.ffn);
    return ops.gated_activation(halves.first, halves.second);
  }
  const Tensor gate = ops.linear(x, {"gate", model.hidden, model.ffn, model.mlp_bias});
  const Tensor up = ops.linear(x, {"up", model.hidden, model.ffn, model.mlp_bias});
  return ops.gated_activation(gate, up);
}

Tensor mlp_part(ModuleOps& ops, const Model& model, Tensor x) {
  const Tensor inner =
      model.gated()
          ? gated_inner(ops, model, x)
          : ops.activation(ops.linear(x, column("up", model.hidden, model.ffn, model.mlp_bias)));
  return ops.linear(inner, row("down", model.ffn, model.hidden, model.mlp_bias));
}

Tensor parallel_block(ModuleOps& ops, const Model& model, const AttentionSpan& span, Tensor x) {
  const bool shared = model.norm_placement == NormPlacement::shared;
  const Tensor first = ops.norm(shared ? "norm" : "attention_norm", x, model.hidden);
  const Tensor second = shared ? first : ops.norm("mlp_norm", x, model.hidden);
  const Tensor context = attention_part(ops, model, span, first);
  return ops.residual({x, context, mlp_part(ops, model, second)});
}

/// A block that normalises what comes out of attention and MLP (also, before them, when `around`).
Tensor output_norm_block(ModuleOps& ops, const Model& model, const AttentionSpan& span, Tensor x) {
  const bool around = model.norm_placement == NormPlacement::around;
  const std::int64_t width = model.hidden;
  const Tensor first = around ? ops.norm("attention_norm", x, width) : x;
  const Tensor context = attention_part(ops, model, span, first);
  const Tensor middle =
      ops.norm_residual(x, context, around ? "attention_output_norm" : "attention_norm", width);
  const Tensor second = around ? ops.norm("mlp_norm", middle, width) : middle;
  return ops.norm_residual(middle, mlp_part(ops, model, second),
                           around ? "mlp_output_norm" : "mlp_norm", width);
}

Tensor input_norm_block(ModuleOps& ops, const Model& model, const AttentionSpan& span, Tensor x) {
  const Tensor normed = ops.norm("attention_norm", x, model.hidden);
  const Tensor context = attention_part(ops, model, span, normed);
  const ModuleOps::Summed middle = ops.residual_norm(x, context, "mlp_norm", model.hidden);
  return ops.residual({middle.sum, mlp_part(ops, model, middle.normed)});
}

double activation_bytes(const TokenBatch& batch, const KernelStack& stack, std::int64_t width) {
  const double bytes = static_cast<double>(bytes_of(stack.precision) * batch.tokens() * width);
  return stack.tensor.sequence ? bytes / stack.tensor.ranks : bytes;
}

}  // namespace

topology::MatrixFormat matrix_format(DType precision) {
  switch (precision) {
    case DType::fp32:
      return topology::MatrixFormat::fp32;
    case DType::fp16:
      return topology::MatrixFormat::fp16;
    case DType::bf16:
      return topology::MatrixFormat::bf16;
  }
  return topology::MatrixFormat::bf16;
}

ModuleKernels layer_kernels(const Model& model, std::int64_t layer, const TokenBatch& batch,
                            const KernelStack& stack) {
  ModuleBuilder builder(layer_parameters(model, layer),
                        activation_bytes(batch, stack, model.hidden), stack);
  ModuleOps ops(builder, model, batch, stack);
  const AttentionSpan span = model.span(layer);
  const bool output_norms =
      model.norm_placement == NormPlacement::after || model.norm_placement == NormPlacement::around;
  const Tensor x = ModuleBuilder::input;
  const Tensor out = model.parallel_block ? parallel_block(ops, model, span, x)
                     : output_norms       ? output_norm_block(ops, model, span, x)
                                          : input_norm_block(ops, model, span, x);
  return builder.finish(out);
}

ModuleKernels embedding_kernels(const Model& model, const TokenBatch& batch,
                                const KernelStack& stack) {
  ModuleBuilder builder(embedding_parameters(model), 0, stack);
  ModuleOps ops(builder, model, batch, stack);
  Tensor out = ops.embedding();
  if (model.embedding_norm) out = ops.norm("embedding_norm", out, model.hidden);
  return builder.finish(out);
}

ModuleKernels head_kernels(const Model& model, const TokenBatch& batch, const KernelStack& stack) {
  ModuleBuilder builder(head_parameters(model), activation_bytes(batch, stack, model.hidden),
                        stack);
  ModuleOps ops(builder, model, batch, stack);
  Tensor x = ModuleBuilder::input;
  if (model.final_norm) x = ops.norm("final_norm", x, model.hidden);
  if (model.embedding_width > 0) {
    x = ops.linear(x, {"head_projection", model.hidden, model.embedding_width, false});
  }
  ModuleOps::Linear head{"head", model.token_width(), model.vocabulary, model.head_bias};
  if (model.tied_embeddings) head.weight = "embedding";
  head.output = sim::BufferKind::logits;
  head.cut = ModuleOps::Cut::column;
  const Tensor logits = ops.linear(x, head);
  return builder.finish(ops.loss(logits));
}

std::vector<Parameter> head_parameters(const Model& model) {
  std::vector<Parameter> parameters = final_parameters(model);
  if (model.tied_embeddings) parameters.push_back(embedding_parameters(model).front());
  return parameters;
}

}  // namespace stepsim::workloads
