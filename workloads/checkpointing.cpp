#include "workloads/checkpointing.hpp"

#include <algorithm>

namespace stepsim::workloads {
namespace {

/// Matrix products of forward up to and including `kernel`.
std::int64_t products_until(const ModuleWork& work, std::uint32_t kernel) {
  return std::count_if(
      work.forward.begin(), work.forward.begin() + kernel + 1,
      [](const IssuedKernel& each) { return each.role == KernelRole::matrix_product; });
}

bool keeps_output(const ModuleWork& work, Recompute recompute, std::uint32_t kernel) {
  const KernelRole role = work.forward[kernel].role;
  switch (recompute) {
    case Recompute::nothing:
      return true;
    case Recompute::selected_ops:
      return role == KernelRole::attention ||
             (role == KernelRole::matrix_product && products_until(work, kernel) % 2 == 1);
    case Recompute::attention_matrices:
      return role != KernelRole::attention_matrix;
    case Recompute::everything:
      return false;
  }
  return true;
}

/// How one activation lives under a recomputation rule.
enum class Life {
  transient,        // forward only
  saved,            // forward to backward
  recomputed,       // transient in forward, written again before backward
  kept_for_replay,  // kept only so that its kernel need not run again
};

Life life_of(const ModuleWork& work, Recompute recompute, const ActivationTensor& tensor) {
  const bool needed = tensor.last_backward_use.has_value();
  if (!keeps_output(work, recompute, tensor.written_by))
    return needed ? Life::recomputed : Life::transient;
  if (needed) return Life::saved;
  // Selective checkpointing caches every output of the ops on its list, needed or not.
  return recompute == Recompute::selected_ops ? Life::kept_for_replay : Life::transient;
}

class Scheduler {
 public:
  Scheduler(const ModuleWork& work, Recompute recompute, EarlyStop early_stop)
      : work_(work), recomputed_(recomputed_kernels(work, recompute, early_stop)) {
    lives_.reserve(work.activations.size());
    for (const ActivationTensor& tensor : work.activations)
      lives_.push_back(life_of(work, recompute, tensor));
  }

  ModuleSchedule run() {
    schedule_forward();
    schedule_recomputation();
    schedule_backward();
    return std::move(schedule_);
  }

 private:
  void schedule_forward() {
    std::vector<Action>& actions = schedule_.forward;
    for (std::uint32_t kernel = 0; kernel < work_.forward.size(); ++kernel) {
      for (std::uint32_t t = 0; t < lives_.size(); ++t)
        if (work_.activations[t].written_by == kernel)
          actions.push_back({ActionKind::allocate_activation, t});
      if (kernel == work_.output_written_by) actions.push_back({ActionKind::allocate_output, 0});
      actions.push_back({ActionKind::forward_kernel, kernel});
      for (std::uint32_t t = 0; t < lives_.size(); ++t)
        if (work_.activations[t].last_forward_use == kernel && !outlives_forward(t))
          actions.push_back({ActionKind::free_activation, t});
    }
  }

  bool outlives_forward(std::uint32_t tensor) const {
    return lives_[tensor] == Life::saved || lives_[tensor] == Life::kept_for_replay;
  }

  void schedule_recomputation() {
    std::vector<Action>& actions = schedule_.recomputation;
    std::vector<std::uint32_t> to_free;  // transient tensors of the recomputation
    bool wrote_output = false;
    for (const std::uint32_t kernel : recomputed_) {
      for (std::uint32_t t = 0; t < lives_.size(); ++t) {
        if (work_.activations[t].written_by != kernel || outlives_forward(t)) continue;
        actions.push_back({ActionKind::allocate_activation, t});
        if (lives_[t] == Life::transient) to_free.push_back(t);
      }
      if (kernel == work_.output_written_by) {
        actions.push_back({ActionKind::allocate_output, 0});
        wrote_output = true;
      }
      actions.push_back({ActionKind::forward_kernel, kernel});
      const auto dead = std::stable_partition(to_free.begin(), to_free.end(), [&](std::uint32_t t) {
        return work_.activations[t].last_forward_use > kernel;
      });
      for (auto it = dead; it != to_free.end(); ++it)
        actions.push_back({ActionKind::free_activation, *it});
      to_free.erase(dead, to_free.end());
    }
    for (const std::uint32_t t : to_free) actions.push_back({ActionKind::free_activation, t});
    for (std::uint32_t t = 0; t < lives_.size(); ++t)
      if (lives_[t] == Life::kept_for_replay) actions.push_back({ActionKind::free_activation, t});
    if (wrote_output) actions.push_back({ActionKind::free_output, 0});
  }

  void schedule_backward() {
    for (std::uint32_t kernel = 0; kernel < work_.backward.size(); ++kernel) {
      const bool later = work_.weight_gradients_from && kernel >= *work_.weight_gradients_from;
      std::vector<Action>& actions = later ? schedule_.weight_gradients : schedule_.backward;
      allocate_before(kernel, actions);
      actions.push_back({ActionKind::backward_kernel, kernel});
      free_after(kernel, actions);
    }
  }

  void allocate_before(std::uint32_t kernel, std::vector<Action>& actions) const {
    for (std::uint32_t t = 0; t < work_.backward_tensors.size(); ++t)
      if (work_.backward_tensors[t].written_by == kernel)
        actions.push_back({ActionKind::allocate_backward_tensor, t});
    if (kernel == work_.input_gradient_written_by)
      actions.push_back({ActionKind::allocate_input_gradient, 0});
    for (std::uint32_t p = 0; p < work_.parameter_gradients.size(); ++p)
      if (work_.parameter_gradients[p].written_by == kernel)
        actions.push_back({ActionKind::allocate_parameter_gradient, p});
  }

  void free_after(std::uint32_t kernel, std::vector<Action>& actions) const {
    for (std::uint32_t t = 0; t < work_.backward_tensors.size(); ++t)
      if (work_.backward_tensors[t].last_use == kernel)
        actions.push_back({ActionKind::free_backward_tensor, t});
    for (std::uint32_t t = 0; t < lives_.size(); ++t)
      if (work_.activations[t].last_backward_use == kernel)
        actions.push_back({ActionKind::free_activation, t});
    if (kernel == work_.input_last_backward_use) actions.push_back({ActionKind::free_input, 0});
    if (kernel == work_.output_gradient_last_use)
      actions.push_back({ActionKind::free_output_gradient, 0});
    for (std::uint32_t p = 0; p < work_.parameter_gradients.size(); ++p)
      if (work_.parameter_gradients[p].written_by == kernel)
        actions.push_back({ActionKind::parameter_gradient_written, p});
  }

  const ModuleWork& work_;
  std::vector<std::uint32_t> recomputed_;
  std::vector<Life> lives_;
  ModuleSchedule schedule_;
};

}  // namespace

std::vector<std::uint32_t> recomputed_kernels(const ModuleWork& work, Recompute recompute,
                                              EarlyStop early_stop) {
  std::vector<std::uint32_t> kernels;
  if (recompute == Recompute::nothing) return kernels;
  std::uint32_t end = early_stop == EarlyStop::yes ? 0 : std::uint32_t(work.forward.size());
  for (const ActivationTensor& tensor : work.activations)
    if (life_of(work, recompute, tensor) == Life::recomputed)
      end = std::max(end, tensor.written_by + 1);
  for (std::uint32_t kernel = 0; kernel < end; ++kernel)
    if (!keeps_output(work, recompute, kernel)) kernels.push_back(kernel);
  return kernels;
}

ModuleSchedule schedule_module(const ModuleWork& work, Recompute recompute, EarlyStop early_stop) {
  return Scheduler(work, recompute, early_stop).run();
}

Bytes saved_bytes(const ModuleWork& work, Recompute recompute) {
  Bytes sum = work.input_size;
  for (const ActivationTensor& tensor : work.activations) {
    const Life life = life_of(work, recompute, tensor);
    if (life == Life::saved || life == Life::kept_for_replay) sum += tensor.size;
  }
  return sum;
}

}  // namespace stepsim::workloads
