#include "workloads/recompute_flops.hpp"

#include "workloads/step_modules.hpp"

namespace stepsim::workloads {

double nominal_hardware_flops_per_token(const Model& model, const Training& training,
                                        FlopsConvention convention) {
  const std::int64_t length = training.sequence_length;
  double sum = training_flops_per_token(model, length, convention);
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    const double all = layer_forward_flops_per_token(model, layer, length, convention);
    const double linear =
        layer_forward_flops_per_token(model, layer, length, FlopsConvention::six_n);
    switch (recompute_of(training, layer)) {
      case Recompute::nothing:
        break;
      case Recompute::selected_ops:
        sum += linear / 2;
        break;
      case Recompute::attention_matrices:
        sum += all - linear;
        break;
      case Recompute::everything:
        sum += all;
        break;
    }
  }
  return sum;
}

}  // namespace stepsim::workloads
