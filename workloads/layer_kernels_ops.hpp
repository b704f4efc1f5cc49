#pragma once

/// Private to the kernel lists: the operations of a transformer, each adding its forward kernels
/// now and its backward kernels later, in both stacks. All byte counts of element-wise kernels are
/// in these functions; docs/models.md tabulates them.

#include "workloads/layer_kernels_builder.hpp"

#include <string>
#include <vector>

namespace stepsim::workloads {

class ModuleOps {
 public:
  using Tensor = ModuleBuilder::Tensor;
  using Gradient = ModuleBuilder::Gradient;

  ModuleOps(ModuleBuilder& builder, const Model& model, const TokenBatch& batch,
            const KernelStack& stack);

  /// How a matrix is cut over the tensor group: by outputs, after gathering the tokens of all ranks
  /// (column), or by inputs, with a sum over ranks after it (row).
  enum class Cut { none, column, row };
  struct Linear {
    std::string name;  // of the kernels, and of the parameters unless `weight` says otherwise
    std::int64_t inputs = 0;
    std::int64_t outputs = 0;
    bool bias = false;
    std::string weight = {};  // of another module: a tied head
    sim::BufferKind output = sim::BufferKind::activations;
    Cut cut = Cut::none;
  };
  /// y = x · W (+ b). The bias is added by the product's epilogue; its gradient is a reduction.
  Tensor linear(Tensor x, const Linear& layer);
  /// A norm of `width` channels a token.
  Tensor norm(const std::string& name, Tensor x, std::int64_t width);
  /// The sum of the terms: one kernel a term after the first, or one in all when compiled.
  Tensor residual(const std::vector<Tensor>& terms);
  /// z = x + y and its norm, which compiled code computes in one kernel.
  struct Summed {
    Tensor sum;
    Tensor normed;
  };
  Summed residual_norm(Tensor x, Tensor y, const std::string& name, std::int64_t width);
  /// x + norm(y), likewise.
  Tensor norm_residual(Tensor x, Tensor y, const std::string& name, std::int64_t width);
  /// Non-linearity of a plain MLP; of a gated one, times `up`.
  Tensor activation(Tensor x);
  Tensor gated_activation(Tensor gate, Tensor up);
  /// Gate and up as views of one product.
  struct Pair {
    Tensor first;
    Tensor second;
  };
  Pair split_in_two(Tensor whole, std::int64_t width);

  struct Heads {
    Tensor q;
    Tensor k;
    Tensor v;
  };
  /// Queries, keys and values as views of one product.
  Heads split_heads(Tensor qkv);
  /// Norms and rotary positions of queries and keys, clamping of all three.
  Heads position(const Heads& heads, const AttentionSpan& span);
  Tensor attention(const Heads& heads, const AttentionSpan& span);

  /// Rows of the token table (and of the position table) of every token.
  Tensor embedding();
  /// Cross-entropy of logits; what it returns is the loss.
  Tensor loss(Tensor logits);

 private:
  /// `read` and `written` are bytes.
  void elementwise(const std::string& name, double read, double written,
                   const std::vector<Tensor>& reads, const std::vector<Tensor>& writes,
                   int launches = 1, StreamingKind kind = StreamingKind::elementwise);
  void elementwise_backward(const std::string& name, double read, double written,
                            const ModuleBuilder::BackwardUse& use, int launches = 1,
                            StreamingKind kind = StreamingKind::elementwise);

  Gemm product_of(const Linear& layer) const;
  void linear_backward(Tensor x, Tensor y, const Linear& layer, Gemm product);
  void bias_gradient(const Linear& layer, Gradient dy, double bytes);
  Kernel input_gradient_kernel(const Linear& layer) const;
  Kernel weight_gradient_kernel(const Linear& layer) const;
  bool cuts_tokens() const { return stack_.tensor.sequence && stack_.tensor.ranks > 1; }
  double cut_tokens(double bytes) const { return bytes / stack_.tensor.ranks; }
  Tensor column_linear(Tensor x, const Linear& layer);
  void column_backward(Tensor x, Tensor y, const Linear& layer);
  Gradient reduce_input_gradient(const Linear& layer, Gradient full, ModuleBuilder::Joins joins);
  Tensor row_linear(Tensor x, const Linear& layer);
  void row_backward(Tensor x, Tensor y, const Linear& layer);
  Tensor reduce_embedding(Tensor rows);
  Tensor scatter_tokens(Tensor x);
  Tensor norm_eager_rms(const std::string& name, Tensor x, std::int64_t width);
  Tensor norm_one_kernel(const std::string& name, Tensor x, std::int64_t width);
  void norm_backward(const std::string& name, Tensor x, Tensor y, Tensor statistics);
  void norm_backward_eager_rms(const std::string& name, Tensor x, Tensor y,
                               const std::vector<Tensor>& saved);
  std::vector<std::string> norm_parameters(const std::string& name) const;
  double statistics_bytes(Tensor x, std::int64_t width) const;
  double bytes_of_all(const std::vector<Gradient>& gradients, double one) const;

  Tensor rotary_eager(const std::string& name, Tensor x);
  Tensor clamp(const std::string& name, Tensor x);
  Heads position_compiled(const Heads& heads, bool rotary);
  Tensor flash_attention(const Heads& heads, const AttentionSpan& span);
  Tensor unfused_attention(const Heads& heads);
  Heads repeat_key_values(const Heads& heads);
  Tensor attention_probabilities(Tensor scores);
  void embedding_backward(const ModuleBuilder::BackwardUse& use);
  Tensor loss_eager(Tensor logits);
  Tensor loss_cut_vocabulary(Tensor logits);
  void loss_cut_vocabulary_backward(Tensor logits, Tensor softmax, Tensor out);

  ModuleBuilder& builder_;
  const Model& model_;
  TokenBatch batch_;
  KernelStack stack_;
  double tokens_;
  double element_;  // bytes of an activation
};

}  // namespace stepsim::workloads
