#include "workloads/megatron_exchange.hpp"

#include <string>

namespace stepsim::workloads {

PipelineExchange::PipelineExchange(const MegatronStage& stage, StepCosts& costs,
                                   sim::ProgramBuilder& builder, sim::StreamId compute,
                                   std::vector<StageSlot>& slots)
    : builder_(builder),
      compute_(compute),
      slots_(slots),
      message_(costs.collective(topology::Collective::send_receive,
                                std::string(sim::pipeline_group), stage.boundary)),
      host_time_(stage.host.message) {}

PipelineExchange::Way& PipelineExchange::way(const MessageKind& kind) {
  const auto known = ways_.find(kind);
  if (known != ways_.end()) return known->second;
  const std::string name = std::string(kind.sends ? "send_" : "receive_") +
                           (kind.is_gradient ? "gradient_" : "activation_") +
                           std::to_string(kind.peer);
  const std::string group(sim::pipeline_group);
  slots_.push_back({group, kind.sends, kind.is_gradient, kind.peer});
  const Way made{builder_.add_stream(name, sim::StreamKind::communication),
                 builder_.add_channel_slot(group), builder_.add_event()};
  return ways_.emplace(kind, made).first->second;
}

void PipelineExchange::post(const MessageKind& kind) {
  const Way& here = way(kind);
  builder_.wait_stream(here.stream, compute_);
  if (kind.sends) {
    builder_.send(here.stream, here.slot, message_, host_time_);
  } else {
    builder_.receive(here.stream, here.slot, message_, host_time_);
  }
  builder_.record(here.done, here.stream);
}

void PipelineExchange::wait(const MessageKind& kind) { builder_.wait(compute_, way(kind).done); }

}  // namespace stepsim::workloads
