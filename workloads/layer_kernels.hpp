#pragma once

/// The kernels one GPU runs for a module of the model (a block, the embedding, the head with the
/// loss), forward and backward, with true shapes, bytes counted one by one, and the tensors that
/// pass between them. docs/models.md has the table of byte counts and where each comes from.
///
/// Two stacks are known. Eager: kernels as the reference PyTorch code issues them, one for each
/// operation; RMS norms and rotary positions op by op, layer norm and the activation functions as
/// PyTorch's own single kernels. Compiled: chains of element-wise operations and the reductions
/// next to them are one kernel, within a block (fully sharded modules are compiled one by one).

#include "workloads/kernel.hpp"
#include "workloads/model.hpp"
#include "workloads/plan.hpp"
#include "workloads/step_work.hpp"

#include <cstdint>
#include <vector>

namespace stepsim::workloads {

/// How a layer is cut over the ranks of a tensor-parallel group. The model is then the part of one
/// rank (workloads/tensor_slice.hpp).
struct TensorParallel {
  int ranks = 1;
  bool sequence = false;  // norms and residual sums work on 1/ranks of the tokens
};

struct KernelStack {
  bool compile = true;
  AttentionKernel attention = AttentionKernel::flash2;
  DType precision = DType::bf16;  // of activations and of the weights computed with

  /// Megatron-LM's kernels: norms are not fused with residual sums, matrix products add weight
  /// gradients to fp32 main gradients, and the loss is computed over a cut vocabulary.
  bool megatron = false;
  TensorParallel tensor{};
  /// Kernels that only make weight gradients come after all others of backward.
  bool delays_weight_gradients = false;
};

/// Sequences a GPU works on at once.
struct TokenBatch {
  std::int64_t sequences = 1;
  std::int64_t length = 0;
  std::int64_t tokens() const { return sequences * length; }
};

struct LaunchedKernel {
  Kernel kernel;
  KernelRole role = KernelRole::other;
  IssueKind kind = IssueKind::kernel;
  // Of a collective of the tensor group, counted as topology::CollectiveModel does:
  topology::Collective collective = topology::Collective::all_reduce;
  Bytes bytes{};
};

/// A module's kernels in issue order. `tensors` says what they read and write by their places in
/// these lists; its own kernel lists stay empty until somebody costs them.
struct ModuleKernels {
  std::vector<LaunchedKernel> forward;
  std::vector<LaunchedKernel> backward;
  ModuleWork tensors;
};

/// Parameter gradients are numbered by place in layer_parameters(model, layer).
ModuleKernels layer_kernels(const Model& model, std::int64_t layer, const TokenBatch& batch,
                            const KernelStack& stack);

/// Numbered by place in embedding_parameters(model).
ModuleKernels embedding_kernels(const Model& model, const TokenBatch& batch,
                                const KernelStack& stack);

/// Final norm, output head and cross-entropy. Numbered by place in head_parameters(model).
ModuleKernels head_kernels(const Model& model, const TokenBatch& batch, const KernelStack& stack);

/// final_parameters(model) and, when the head is tied, the token table after them.
std::vector<Parameter> head_parameters(const Model& model);

/// Format of matrix products in a precision (fp32 stays fp32: PyTorch does not use TF32 by itself).
topology::MatrixFormat matrix_format(DType precision);

}  // namespace stepsim::workloads
