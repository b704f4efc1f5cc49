#include "workloads/model.hpp"

#include "sim/base/error.hpp"

#include <algorithm>
#include <utility>

namespace stepsim::workloads {

namespace {

double as_double(std::int64_t count) { return static_cast<double>(count); }

/// Elements of the weights a token is multiplied with, one multiply-add each.
std::int64_t matrix_elements(const std::vector<Parameter>& parameters) {
  std::int64_t elements = 0;
  for (const Parameter& parameter : parameters) {
    if (parameter.shape.size() == 2) elements += parameter.count();
  }
  return elements;
}

/// Keys that one query looks at, on average over a sequence.
double attended_tokens(const AttentionSpan& span, std::int64_t sequence_length,
                       FlopsConvention convention) {
  const double length = as_double(sequence_length);
  const double window = std::min(length, as_double(span.window.value_or(sequence_length)));
  if (convention == FlopsConvention::full_attention) return window;
  return window - window * window / (2 * length);
}

std::int64_t count_all(const std::vector<Parameter>& parameters) {
  std::int64_t count = 0;
  for (const Parameter& parameter : parameters) count += parameter.count();
  return count;
}

}  // namespace

int Model::norms_per_layer() const {
  switch (norm_placement) {
    case NormPlacement::shared:
      return 1;
    case NormPlacement::before:
    case NormPlacement::after:
      return 2;
    case NormPlacement::around:
      return 4;
  }
  return 2;
}

AttentionSpan Model::span(std::int64_t layer) const {
  if (spans.empty()) return {};
  return spans[static_cast<std::size_t>(layer) % spans.size()];
}

std::int64_t layer_parameter_count(const Model& model) {
  return count_all(layer_parameters(model, 0));
}

std::int64_t parameter_count(const Model& model) {
  return count_all(embedding_parameters(model)) + model.layers * layer_parameter_count(model) +
         count_all(final_parameters(model));
}

Model for_sequence_length(Model model, std::int64_t sequence_length) {
  if (model.positions != Positions::learned) return model;
  if (model.position_rows_follow_sequence) {
    model.position_rows = sequence_length;
    model.max_positions = sequence_length;
  } else if (sequence_length > model.max_positions) {
    Diagnostic diagnostic;
    diagnostic.problem = "a sequence of " + std::to_string(sequence_length) +
                         " tokens is longer than the position table of " + model.name;
    diagnostic.expected = "at most " + std::to_string(model.max_positions) + " tokens";
    throw InputError(std::move(diagnostic));
  }
  return model;
}

double layer_forward_flops_per_token(const Model& model, std::int64_t layer,
                                     std::int64_t sequence_length, FlopsConvention convention) {
  const double linear = 2 * as_double(matrix_elements(layer_parameters(model, layer)));
  if (convention == FlopsConvention::six_n) return linear;
  return linear + 4 * as_double(model.query_width()) *
                      attended_tokens(model.span(layer), sequence_length, convention);
}

double head_forward_flops_per_token(const Model& model) {
  const std::int64_t projections =
      model.embedding_width > 0 ? 2 * model.embedding_width * model.hidden : 0;
  return 2 * as_double(model.vocabulary * model.token_width() + projections);
}

double training_flops_per_token(const Model& model, std::int64_t sequence_length,
                                FlopsConvention convention) {
  if (convention == FlopsConvention::six_n) return 6 * as_double(parameter_count(model));
  double forward = head_forward_flops_per_token(model);
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    forward += layer_forward_flops_per_token(model, layer, sequence_length, convention);
  }
  return 3 * forward;
}

const char* to_string(FlopsConvention convention) {
  switch (convention) {
    case FlopsConvention::full_attention:
      return "full-attention";
    case FlopsConvention::causal_attention:
      return "causal-attention";
    case FlopsConvention::six_n:
      return "six-n";
  }
  return "";
}

const char* to_string(Activation activation) {
  switch (activation) {
    case Activation::gelu:
      return "gelu";
    case Activation::relu:
      return "relu";
    case Activation::squared_relu:
      return "squared relu";
    case Activation::silu:
      return "silu";
    case Activation::swiglu:
      return "swiglu";
    case Activation::geglu:
      return "geglu";
  }
  return "";
}

const char* to_string(Norm norm) { return norm == Norm::rms_norm ? "rms_norm" : "layer_norm"; }

const char* to_string(Positions positions) {
  switch (positions) {
    case Positions::none:
      return "none";
    case Positions::rotary:
      return "rotary";
    case Positions::learned:
      return "learned";
    case Positions::alibi:
      return "alibi";
  }
  return "";
}

}  // namespace stepsim::workloads
