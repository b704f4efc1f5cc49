#pragma once

/// The part of a model that one rank of a tensor-parallel group holds, as a model of its own: equal
/// to the whole but for heads, inner width and vocabulary (Megatron-LM: column-parallel first
/// matrices, row-parallel second ones, vocabulary-parallel embedding and head). Every rank holds an
/// equal part.

#include "workloads/model.hpp"

#include <string>

namespace stepsim::workloads {

/// Queries, keys and values become one matrix, gate and up another, as Megatron-LM has them.
Model tensor_slice(const Model& model, int tp);

/// Megatron-LM pads the vocabulary to a multiple of 128 × tp
/// (make_vocab_size_divisible_by).
std::int64_t padded_vocabulary(std::int64_t vocabulary, int tp);

/// Why the model cannot be cut so, in Megatron-LM's words; empty when it can.
std::string tensor_slice_problem(const Model& model, int tp);

}  // namespace stepsim::workloads
