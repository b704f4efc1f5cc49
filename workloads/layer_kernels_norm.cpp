// Norms of both stacks, alone and next to a residual sum.

#include "workloads/layer_kernels_ops.hpp"

namespace stepsim::workloads {

namespace {

double as_double(std::int64_t count) { return static_cast<double>(count); }

}  // namespace

std::vector<std::string> ModuleOps::norm_parameters(const std::string& name) const {
  if (!model_.norm_has_weight) return {};
  std::vector<std::string> parameters = {name + ".weight"};
  const bool of_heads = name == "q_norm" || name == "k_norm";
  if (model_.norm_has_bias && !of_heads) parameters.push_back(name + ".bias");
  return parameters;
}

/// fp32 mean and reciprocal deviation of a row of x, or the latter alone.
double ModuleOps::statistics_bytes(Tensor x, std::int64_t width) const {
  const double rows = builder_.bytes(x) / (element_ * as_double(width));
  return (model_.norm == Norm::layer_norm ? 8 : 4) * rows;
}

double ModuleOps::bytes_of_all(const std::vector<Gradient>& gradients, double one) const {
  return one * static_cast<double>(gradients.size());
}

ModuleOps::Tensor ModuleOps::norm(const std::string& name, Tensor x, std::int64_t width) {
  const bool op_by_op = !stack_.compile && model_.norm == Norm::rms_norm;
  return op_by_op ? norm_eager_rms(name, x, width) : norm_one_kernel(name, x, width);
}

/// One kernel: x read, y and the statistics written.
ModuleOps::Tensor ModuleOps::norm_one_kernel(const std::string& name, Tensor x,
                                             std::int64_t width) {
  const double size = builder_.bytes(x);
  const double saved = statistics_bytes(x, width);
  const Tensor y = builder_.tensor(name, size);
  const Tensor statistics = builder_.tensor(name + "_statistics", saved);
  elementwise(name, size, size + saved, {x}, {y, statistics}, 1, StreamingKind::norm);
  builder_.on_backward([=, this] { norm_backward(name, x, y, statistics); });
  return y;
}

/// dx from dy, x and the statistics in one kernel, the weight's gradient by a reduction in two
/// (both read dy and x). Compiled code reads every part of dy and adds what already flows back to x
/// past the norm.
void ModuleOps::norm_backward(const std::string& name, Tensor x, Tensor y, Tensor statistics) {
  const double size = builder_.bytes(y);
  const std::vector<Gradient> parts =
      stack_.compile ? builder_.take(y) : std::vector<Gradient>{builder_.take_one(y)};
  const std::vector<Gradient> passing = stack_.compile ? builder_.take(x) : std::vector<Gradient>{};
  const Gradient dx = builder_.gradient(name + "_input_gradient", size);
  std::vector<Gradient> reads = parts;
  reads.insert(reads.end(), passing.begin(), passing.end());
  elementwise_backward(name, bytes_of_all(reads, size) + size + builder_.bytes(statistics), size,
                       {{x, statistics}, reads, {dx}, {}}, 1, StreamingKind::norm_backward);
  const std::vector<std::string> parameters = norm_parameters(name);
  if (!parameters.empty()) {
    elementwise_backward(name + "_weight", bytes_of_all(parts, size) + size, 0,
                         {{x, statistics}, parts, {}, parameters}, 2, StreamingKind::norm_backward);
  }
  builder_.contribute(x, dx);
}

/// As written in PyTorch: to fp32, square, mean, add and reciprocal root, multiply, back to the
/// precision, times the weight. fp32 needs no casts.
ModuleOps::Tensor ModuleOps::norm_eager_rms(const std::string& name, Tensor x, std::int64_t width) {
  const bool casts = element_ < 4;
  const double size = builder_.bytes(x);
  const double count = size / element_;
  const Tensor y = builder_.tensor(name, size);
  const Tensor normalised = builder_.tensor(name + "_normalised", size);
  const Tensor statistics = builder_.tensor(name + "_statistics", statistics_bytes(x, width));
  std::vector<Tensor> saved = {normalised, statistics};
  std::vector<Tensor> writes = {normalised, statistics, y};
  if (casts) {
    const Tensor wide = builder_.tensor(name + "_input_fp32", 4 * count);
    saved.push_back(wide);
    writes.push_back(wide);
  } else {
    saved.push_back(x);
  }
  const double read = (casts ? 2 * element_ + 16 : 16) * count;
  const double written = (casts ? 2 * element_ + 12 : 12) * count;
  elementwise(name, read, written, {x}, writes, casts ? 8 : 6, StreamingKind::norm);
  builder_.on_backward([=, this] { norm_backward_eager_rms(name, x, y, saved); });
  return y;
}

/// The chain backwards: weight (product, reduction), cast, reciprocal root (product, reduction),
/// square, the sum of both ways to x, cast: 8·e + 60 bytes an element, 76 in fp32.
void ModuleOps::norm_backward_eager_rms(const std::string& name, Tensor x, Tensor y,
                                        const std::vector<Tensor>& saved) {
  const double size = builder_.bytes(y);
  const double count = size / element_;
  const bool casts = element_ < 4;
  const Gradient dy = builder_.take_one(y);
  const Gradient dx = builder_.gradient(name + "_input_gradient", size);
  const double read = (casts ? 5 * element_ + 36 : 48) * count;
  const double written = (casts ? 3 * element_ + 24 : 28) * count;
  elementwise_backward(name, read, written, {saved, {dy}, {dx}, norm_parameters(name)},
                       casts ? 14 : 12, StreamingKind::norm_backward);
  builder_.contribute(x, dx);
}

ModuleOps::Summed ModuleOps::residual_norm(Tensor x, Tensor y, const std::string& name,
                                           std::int64_t width) {
  if (!stack_.compile || stack_.megatron) {
    const Tensor sum = residual({x, y});
    return {sum, norm(name, sum, width)};
  }
  const double size = builder_.bytes(x);
  const Tensor sum = builder_.tensor("residual", size);
  const Tensor normed = builder_.tensor(name, size);
  const double saved = statistics_bytes(x, width);
  const Tensor statistics = builder_.tensor(name + "_statistics", saved);
  elementwise("residual_" + name, 2 * size, 2 * size + saved, {x, y}, {sum, normed, statistics}, 1,
              StreamingKind::norm);
  builder_.on_backward([=, this] {
    const Gradient gradient = builder_.take_one(sum);
    builder_.contribute(x, gradient);
    builder_.contribute(y, gradient);
  });
  builder_.on_backward([=, this] { norm_backward(name, sum, normed, statistics); });
  return {sum, normed};
}

ModuleOps::Tensor ModuleOps::norm_residual(Tensor x, Tensor y, const std::string& name,
                                           std::int64_t width) {
  if (!stack_.compile) return residual({x, norm(name, y, width)});
  const double size = builder_.bytes(x);
  const Tensor sum = builder_.tensor("residual", size);
  const double saved = statistics_bytes(x, width);
  const Tensor statistics = builder_.tensor(name + "_statistics", saved);
  elementwise(name + "_residual", 2 * size, size + saved, {x, y}, {sum, statistics}, 1,
              StreamingKind::norm);
  builder_.on_backward([=, this] {
    const Gradient gradient = builder_.take_one(sum);
    builder_.contribute(x, gradient);
    builder_.contribute(sum, gradient);
    norm_backward(name, y, sum, statistics);
  });
  return sum;
}

}  // namespace stepsim::workloads
