#include "bench/fsdp_job.hpp"

#include "sim/program_builder.hpp"

#include <string>

namespace stepsim::bench {

namespace {

using sim::CollectiveId;
using sim::KernelId;
using sim::StreamKind;

class FsdpProgram {
 public:
  explicit FsdpProgram(const FsdpShape& shape) : shape_(shape), builder_("fsdp") {
    for (std::uint32_t layer = 0; layer < shape_.layers; ++layer) {
      gathered_.push_back(builder_.add_event());
      copied_out_.push_back(builder_.add_event());
      scattered_.push_back(builder_.add_event());
    }
  }

  sim::Program run() {
    for (std::uint32_t layer = 0; layer < shape_.layers; ++layer) forward(layer);
    for (std::uint32_t layer = shape_.layers; layer-- > 0;) backward(layer);
    builder_.set_scope("optimizer");
    builder_.wait(compute_, scattered_[0]);
    for (int i = 0; i < 10; ++i) builder_.kernel(compute_, kernel(i), launch_);
    return builder_.finish();
  }

 private:
  static KernelId kernel(std::uint32_t i) { return KernelId{i % 16}; }
  static KernelId kernel(int i) { return kernel(static_cast<std::uint32_t>(i)); }

  void gather(std::uint32_t layer) {
    builder_.kernel(copy_in_, kernel(layer), launch_);
    builder_.wait_stream(gathers_, copy_in_);
    builder_.collective(gathers_, shard_, CollectiveId{0}, launch_);
    builder_.record(gathered_[layer], gathers_);
  }

  void use(std::uint32_t layer) {
    builder_.wait(compute_, gathered_[layer]);
    builder_.kernel(compute_, kernel(layer), launch_);
    builder_.record(copied_out_[layer], compute_);
    builder_.wait(copy_in_, copied_out_[layer]);
    builder_.wait(gathers_, copied_out_[layer]);
  }

  void forward(std::uint32_t layer) {
    builder_.set_scope("forward/layers." + std::to_string(layer));
    gather(layer);
    use(layer);
    for (std::uint32_t i = 0; i < shape_.forward_kernels; ++i) {
      builder_.kernel(compute_, kernel(i), launch_);
    }
  }

  void backward(std::uint32_t layer) {
    builder_.set_scope("backward/layers." + std::to_string(layer));
    if (layer + 1 == shape_.layers) gather(layer);
    use(layer);
    if (layer > 0) gather(layer - 1);
    for (std::uint32_t i = 0; i < shape_.backward_kernels; ++i) {
      builder_.kernel(compute_, kernel(i), launch_);
    }
    if (layer + 1 < shape_.layers) builder_.wait(compute_, scattered_[layer + 1]);
    builder_.kernel(compute_, kernel(layer), launch_);
    builder_.wait_stream(scatters_, compute_);
    builder_.collective(scatters_, shard_, CollectiveId{1}, launch_);
    builder_.record(scattered_[layer], scatters_);
  }

  FsdpShape shape_;
  sim::ProgramBuilder builder_;
  sim::StreamId compute_ = builder_.add_stream("default", StreamKind::compute);
  sim::StreamId copy_in_ = builder_.add_stream("copy_in", StreamKind::copy);
  sim::StreamId gathers_ = builder_.add_stream("all_gather", StreamKind::communication);
  sim::StreamId scatters_ = builder_.add_stream("reduce_scatter", StreamKind::communication);
  sim::SlotId shard_ = builder_.add_communicator_slot("shard");
  Time launch_ = Time::microseconds(5);
  std::vector<sim::EventId> gathered_;
  std::vector<sim::EventId> copied_out_;
  std::vector<sim::EventId> scattered_;
};

}  // namespace

sim::Job fsdp_job(const FsdpShape& shape) {
  sim::Job job;
  for (std::int64_t i = 0; i < 16; ++i) {
    job.kernels.push_back({"kernel", "gemm", Time::microseconds(2), Time::microseconds(20 + 15 * i),
                           sim::Clock::compute, false});
  }
  job.collectives = {{"all_gather", "shard", Bytes(1 << 30)},
                     {"reduce_scatter", "shard", Bytes(1 << 30)}};
  job.collective_costs = {{{Time::microseconds(50), Time::milliseconds(4), "ring", false},
                           {Time::microseconds(50), Time::milliseconds(4), "ring", false}}};
  job.programs.push_back(FsdpProgram(shape).run());
  sim::Communicator shard{"shard", {}, 0};
  for (std::uint32_t r = 0; r < shape.ranks; ++r) {
    shard.members.push_back(sim::Rank{r});
    job.ranks.push_back({sim::ProgramId{0}, {0}});
  }
  if (shape.sharing) {
    for (sim::KernelCost& kernel : job.kernels) {
      kernel.sharing.by_sms_taken = {{8, sim::SpeedStep::full_speed * 7 / 8}};
    }
    for (sim::CollectiveCost& cost : job.collective_costs[0]) {
      cost.sms = 16;
      cost.rate = 500'000;
    }
    job.links.push_back({"nic", 720'720});
    shard.links = {{sim::LinkId{0}, 1}};
  }
  job.communicators.push_back(shard);
  return job;
}

}  // namespace stepsim::bench
