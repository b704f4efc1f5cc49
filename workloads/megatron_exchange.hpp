#pragma once

/// Private to megatron.hpp: messages between pipeline ranks. Each kind of message with each peer
/// has a channel and a stream; what is posted waits for what the compute stream has been given so
/// far.

#include "workloads/megatron.hpp"

#include "sim/program_builder.hpp"

#include <map>
#include <tuple>
#include <vector>

namespace stepsim::workloads {

struct MessageKind {
  bool sends = false;
  bool is_gradient = false;
  int peer = 0;  // along the pipeline
  friend auto operator<=>(const MessageKind&, const MessageKind&) = default;
};

class PipelineExchange {
 public:
  PipelineExchange(const MegatronStage& stage, StepCosts& costs, sim::ProgramBuilder& builder,
                   sim::StreamId compute, std::vector<StageSlot>& slots);

  void post(const MessageKind& kind);
  /// The compute stream waits for the last message of the kind that was posted.
  void wait(const MessageKind& kind);

 private:
  struct Way {
    sim::StreamId stream;
    sim::SlotId slot;
    sim::EventId done;
  };
  Way& way(const MessageKind& kind);

  sim::ProgramBuilder& builder_;
  sim::StreamId compute_;
  std::vector<StageSlot>& slots_;
  sim::CollectiveId message_;
  Time host_time_;
  std::map<MessageKind, Way> ways_;
};

}  // namespace stepsim::workloads
