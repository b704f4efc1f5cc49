#pragma once

/// Hardware FLOPs as published tables count them: by formula, not by what a program runs.

#include "workloads/model.hpp"
#include "workloads/plan.hpp"

namespace stepsim::workloads {

/// Model FLOPs of a token and the forward multiplications that activation checkpointing runs again,
/// without early stop: whole blocks (4/3 of their share), their attention (core_attention), or
/// about half of their linear layers (op). Source of the first two: arXiv 2205.05198, appendix A.
double nominal_hardware_flops_per_token(const Model& model, const Training& training,
                                        FlopsConvention convention);

}  // namespace stepsim::workloads
