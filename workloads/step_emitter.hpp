#pragma once

/// Emits the computation of modules: kernels on the compute stream and the tensors they take and
/// return, in the order of their schedule. What happens with parameter gradients is the strategy's.
///
/// Activations live in *sets*, one for each micro-batch that is between its forward and its
/// backward at one time; a strategy without a pipeline needs one.

#include "workloads/checkpointing.hpp"
#include "workloads/step_work.hpp"

#include "sim/program_builder.hpp"

#include <cstdint>
#include <optional>
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
  /// Where the collectives of a tensor-parallel group run.
  struct TensorGroup {
    sim::StreamId stream;
    sim::SlotId slot;
  };

  StepEmitter(const StepWork& work, sim::ProgramBuilder& builder, sim::StreamId compute,
              std::optional<TensorGroup> tensor = {});

  void forward(std::size_t module, std::size_t set = 0);
  /// Recomputation and backward, without what the module's work leaves for later.
  void backward(std::size_t module, GradientListener& listener, std::size_t set = 0);
  void weight_gradients(std::size_t module, GradientListener& listener, std::size_t set = 0);

  /// What a module takes and returns. Between modules of a chunk they are allocated and freed here;
  /// at its ends whoever hands them on does the other half.
  sim::BufferId input(std::size_t module, std::size_t set) { return at(module, set).input; }
  sim::BufferId output(std::size_t module, std::size_t set);
  sim::BufferId input_gradient(std::size_t module, std::size_t set) {
    return at(module, set).input_gradient;
  }
  sim::BufferId output_gradient(std::size_t module, std::size_t set);

 private:
  struct ModuleBuffers {
    std::vector<sim::BufferId> activations;
    std::vector<sim::BufferId> backward_tensors;
    sim::BufferId input;
    sim::BufferId input_gradient;
    sim::BufferId output;  // of a chunk's last module
    sim::BufferId output_gradient;
  };
  struct Ends {
    bool has_input = false;
    bool has_output = false;
    bool is_last_of_chunk = false;
  };

  void add_schedules();
  void find_ends();
  ModuleBuffers add_buffers(std::size_t module, std::size_t set);
  ModuleBuffers& at(std::size_t module, std::size_t set);
  void count_gradient_writers();
  void issue(std::size_t module, std::size_t set, const std::vector<Action>& actions,
             GradientListener* listener);
  void issue_kernel(const IssuedKernel& kernel);
  void allocate_gradient(std::uint32_t parameter, GradientListener& listener);
  void gradient_written(std::uint32_t parameter, GradientListener& listener);

  const StepWork& work_;
  sim::ProgramBuilder& builder_;
  sim::StreamId compute_;
  std::vector<ModuleSchedule> schedules_;            // distinct ones
  std::vector<std::size_t> schedule_of_;             // per module
  std::vector<Ends> ends_;                           // per module
  std::vector<std::vector<ModuleBuffers>> buffers_;  // per module and set
  std::optional<TensorGroup> tensor_;
  std::vector<int> writers_;  // per parameter: kernels that write its gradient
  std::vector<int> written_;  // per parameter, so far in this backward
};

}  // namespace stepsim::workloads
