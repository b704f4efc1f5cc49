#pragma once

/// Emits the computation of modules: kernels on the compute stream and the tensors they take and
/// return, in the order of their schedule. What happens with parameter gradients is the strategy's.

#include "workloads/checkpointing.hpp"
#include "workloads/step_work.hpp"

#include "sim/program_builder.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace stepsim::workloads {

/// What a strategy hears of parameter gradients during backward. `parameter` is a row of
/// StepWork::parameters.
class GradientListener {
 public:
  virtual ~GradientListener() = default;
  /// Before the kernel that first writes it in this backward: take memory for it.
  virtual void allocate_gradient(std::uint32_t parameter) = 0;
  /// After the kernel that completes it.
  virtual void gradient_ready(std::uint32_t parameter) = 0;
};

class StepEmitter {
 public:
  StepEmitter(const StepWork& work, sim::ProgramBuilder& builder, sim::StreamId compute);

  void forward(std::size_t module);
  void backward(std::size_t module, GradientListener& listener);

 private:
  struct ModuleBuffers {
    std::vector<sim::BufferId> activations;
    std::vector<sim::BufferId> backward_tensors;
  };

  void add_schedules();
  void add_buffers();
  void count_gradient_writers();
  void issue(std::size_t module, const std::vector<Action>& actions, GradientListener* listener);
  void issue_kernel(const IssuedKernel& kernel);
  void allocate_gradient(std::uint32_t parameter, GradientListener& listener);
  void gradient_written(std::uint32_t parameter, GradientListener& listener);

  const StepWork& work_;
  sim::ProgramBuilder& builder_;
  sim::StreamId compute_;
  std::vector<ModuleSchedule> schedules_;       // distinct ones
  std::vector<std::size_t> schedule_of_;        // per module
  std::vector<ModuleBuffers> buffers_;          // per module
  std::vector<sim::BufferId> inputs_;           // per module; unused for the first
  std::vector<sim::BufferId> input_gradients_;  // per module; unused for the first
  std::vector<int> writers_;                    // per parameter: kernels that write its gradient
  std::vector<int> written_;                    // per parameter, so far in this backward
};

}  // namespace stepsim::workloads
