#include "bench/pipeline_job.hpp"

#include "sim/program_builder.hpp"

#include <algorithm>
#include <string>

namespace stepsim::bench {

namespace {

using sim::CollectiveId;
using sim::KernelId;
using sim::LinkId;
using sim::LinkUse;
using sim::ProgramBuilder;
using sim::Rank;
using sim::StreamKind;

constexpr CollectiveId tensor_reduce{0};
constexpr CollectiveId message{1};
constexpr CollectiveId data_gather{2};
constexpr CollectiveId data_scatter{3};
constexpr CollectiveId world_reduce{4};
constexpr std::uint32_t kernel_kinds = 16;

/// The program of one stage.
class StageProgram {
 public:
  StageProgram(const PipelineShape& shape, std::uint32_t stage)
      : shape_(shape), stage_(stage), builder_("stage " + std::to_string(stage)) {
    if (stage_ > 0) from_before_ = builder_.add_channel_slot("pipeline");
    if (stage_ > 0) to_before_ = builder_.add_channel_slot("pipeline");
    if (!is_last()) to_next_ = builder_.add_channel_slot("pipeline");
    if (!is_last()) from_next_ = builder_.add_channel_slot("pipeline");
  }

  sim::Program run() {
    for (std::uint32_t layer = 0; layer < shape_.layers; ++layer) {
      builder_.collective(buckets_, data_, data_gather, launch_);
    }
    builder_.wait_stream(compute_, buckets_);
    const std::uint32_t warm_up = std::min(shape_.stages - 1 - stage_, shape_.micro_batches);
    for (std::uint32_t i = 0; i < warm_up; ++i) forward();
    for (std::uint32_t i = warm_up; i < shape_.micro_batches; ++i) {
      forward();
      backward(i - warm_up);
    }
    for (std::uint32_t i = shape_.micro_batches - warm_up; i < shape_.micro_batches; ++i)
      backward(i);
    builder_.wait_stream(compute_, buckets_);
    builder_.collective(compute_, world_, world_reduce, launch_);
    kernels(10);
    return builder_.finish();
  }

 private:
  bool is_last() const { return stage_ + 1 == shape_.stages; }

  void kernels(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      builder_.kernel(compute_, KernelId{next_kernel_++ % kernel_kinds}, launch_);
    }
  }

  void receive(sim::StreamId stream, sim::SlotId slot) {
    builder_.receive(stream, slot, message, launch_);
    builder_.wait_stream(compute_, stream);
  }

  void send(sim::StreamId stream, sim::SlotId slot) {
    builder_.wait_stream(stream, compute_);
    builder_.send(stream, slot, message, launch_);
  }

  void forward() {
    if (stage_ > 0) receive(receive_forward_, from_before_);
    for (std::uint32_t layer = 0; layer < shape_.layers; ++layer) {
      for (int i = 0; i < 4; ++i) {
        kernels(3);
        builder_.collective(compute_, tensor_, tensor_reduce, launch_);
      }
    }
    if (!is_last()) send(send_forward_, to_next_);
  }

  void backward(std::uint32_t micro_batch) {
    if (!is_last()) receive(receive_backward_, from_next_);
    for (std::uint32_t layer = 0; layer < shape_.layers; ++layer) {
      for (int i = 0; i < 2; ++i) {
        kernels(4);
        builder_.collective(compute_, tensor_, tensor_reduce, launch_);
      }
      for (int i = 0; i < 4; ++i) {
        kernels(2);
        builder_.wait_stream(beside_, compute_);
        builder_.collective(beside_, tensor_, tensor_reduce, launch_);
        kernels(2);
        builder_.wait_stream(compute_, beside_);
      }
      if (micro_batch + 1 != shape_.micro_batches) continue;
      builder_.wait_stream(buckets_, compute_);
      builder_.collective(buckets_, data_, data_scatter, launch_);
    }
    if (stage_ > 0) send(send_backward_, to_before_);
  }

  PipelineShape shape_;
  std::uint32_t stage_;
  std::uint32_t next_kernel_ = 0;
  ProgramBuilder builder_;
  Time launch_ = Time::microseconds(2);
  sim::StreamId compute_ = builder_.add_stream("default", StreamKind::compute);
  sim::StreamId beside_ = builder_.add_stream("tensor", StreamKind::communication);
  sim::StreamId buckets_ = builder_.add_stream("data", StreamKind::communication);
  sim::StreamId send_forward_ = builder_.add_stream("send forward", StreamKind::communication);
  sim::StreamId send_backward_ = builder_.add_stream("send backward", StreamKind::communication);
  sim::StreamId receive_forward_ =
      builder_.add_stream("receive forward", StreamKind::communication);
  sim::StreamId receive_backward_ =
      builder_.add_stream("receive backward", StreamKind::communication);
  sim::SlotId tensor_ = builder_.add_communicator_slot("tensor");
  sim::SlotId data_ = builder_.add_communicator_slot("data");
  sim::SlotId world_ = builder_.add_communicator_slot("world");
  sim::SlotId from_before_, to_before_, to_next_, from_next_;
};

class PipelineJob {
 public:
  explicit PipelineJob(const PipelineShape& shape) : shape_(shape) {}

  sim::Job run() {
    add_costs();
    for (std::uint32_t stage = 0; stage < shape_.stages; ++stage) {
      job_.programs.push_back(StageProgram(shape_, stage).run());
    }
    if (shape_.sharing) add_sharing();
    if (shape_.all_different) job_.jitter = {1, sim::Jitter::whole / 20};
    add_communicators();
    add_channels();
    for (std::uint32_t rank = 0; rank < rank_count(); ++rank) add_rank(rank);
    for (std::uint32_t i = 0; i < shape_.slow_ranks; ++i) {
      job_.ranks[(17 + i * 7919) % rank_count()].compute_time_millionths = 1'200'000 + i;
    }
    return std::move(job_);
  }

 private:
  std::uint32_t rank_count() const { return shape_.tensor * shape_.data * shape_.stages; }
  std::uint32_t rank_of(std::uint32_t tensor, std::uint32_t data, std::uint32_t stage) const {
    return tensor + shape_.tensor * (data + shape_.data * stage);
  }

  void add_costs() {
    for (std::int64_t i = 0; i < kernel_kinds; ++i) {
      job_.kernels.push_back({"kernel", "gemm", Time::microseconds(2),
                              Time::microseconds(60 + 25 * i), sim::Clock::compute, false});
    }
    job_.collectives = {{"all_reduce", "tensor", Bytes(1 << 26)},
                        {"send", "pipeline", Bytes(1 << 26)},
                        {"all_gather", "data", Bytes(1 << 30)},
                        {"reduce_scatter", "data", Bytes(1 << 30)},
                        {"all_reduce", "world", Bytes(4)}};
    const auto cost = [](std::int64_t latency_us, std::int64_t transfer_us) {
      return sim::CollectiveCost{Time::microseconds(latency_us), Time::microseconds(transfer_us),
                                 "ring", false};
    };
    job_.collective_costs = {
        {cost(8, 90), cost(10, 700), cost(300, 9000), cost(300, 9000), cost(100, 0)}};
  }

  void add_sharing() {
    for (sim::KernelCost& kernel : job_.kernels) {
      kernel.sharing.by_sms_taken = {{8, sim::SpeedStep::full_speed * 7 / 8}};
    }
    auto& costs = job_.collective_costs[0];
    for (sim::CollectiveCost& cost : costs) cost.sms = 16;
    for (const CollectiveId id : {message, data_gather, data_scatter}) {
      costs[id.index()].rate = id == message ? 500'000 : 650'000;
    }
    for (std::uint32_t rank = 0; rank < rank_count(); ++rank) {
      job_.links.push_back({"nic out", 720'720});
      job_.links.push_back({"nic in", 720'720});
    }
  }

  static LinkId out_of(std::uint32_t rank) { return LinkId{2 * rank}; }
  static LinkId into(std::uint32_t rank) { return LinkId{2 * rank + 1}; }

  std::vector<LinkUse> ring_links(const std::vector<Rank>& members) const {
    std::vector<LinkUse> links;
    if (!shape_.sharing) return links;
    for (const Rank rank : members) {
      links.push_back({out_of(rank.value), 1});
      links.push_back({into(rank.value), 1});
    }
    return links;
  }

  void add_communicators() {
    for (std::uint32_t stage = 0; stage < shape_.stages; ++stage) {
      for (std::uint32_t d = 0; d < shape_.data; ++d) {
        sim::Communicator& c = job_.communicators.emplace_back();
        c.group = "tensor";
        for (std::uint32_t t = 0; t < shape_.tensor; ++t) {
          c.members.push_back(Rank{rank_of(t, d, stage)});
        }
      }
    }
    first_data_ = job_.communicators.size();
    for (std::uint32_t stage = 0; stage < shape_.stages; ++stage) {
      for (std::uint32_t t = 0; t < shape_.tensor; ++t) {
        sim::Communicator& c = job_.communicators.emplace_back();
        c.group = "data";
        for (std::uint32_t d = 0; d < shape_.data; ++d) {
          c.members.push_back(Rank{rank_of(t, d, stage)});
        }
        c.links = ring_links(c.members);
      }
    }
    sim::Communicator& world = job_.communicators.emplace_back();
    world.group = "world";
    for (std::uint32_t rank = 0; rank < rank_count(); ++rank) world.members.push_back(Rank{rank});
  }

  /// Channel 2i leads from the i-th rank to the same place of the next stage, 2i + 1 back.
  void add_channels() {
    const std::uint32_t stage_size = shape_.tensor * shape_.data;
    for (std::uint32_t rank = 0; rank + stage_size < rank_count(); ++rank) {
      for (const auto& [from, to] :
           {std::pair(rank, rank + stage_size), {rank + stage_size, rank}}) {
        sim::Channel channel{"pipeline", Rank{from}, Rank{to}, 0};
        if (shape_.sharing) channel.links = {{out_of(from), 1}, {into(to), 1}};
        std::sort(channel.links.begin(), channel.links.end());
        job_.channels.push_back(channel);
      }
    }
  }

  void add_rank(std::uint32_t rank) {
    const std::uint32_t stage_size = shape_.tensor * shape_.data;
    const std::uint32_t stage = rank / stage_size;
    const auto data_communicator =
        static_cast<std::uint32_t>(first_data_) + stage * shape_.tensor + rank % shape_.tensor;
    sim::RankSetup setup{sim::ProgramId{stage},
                         {rank / shape_.tensor, data_communicator,
                          static_cast<std::uint32_t>(job_.communicators.size() - 1)}};
    const auto bind = [&](std::uint32_t channel) { setup.bindings.push_back(channel); };
    if (stage > 0) {
      bind(2 * (rank - stage_size));
      bind(2 * (rank - stage_size) + 1);
    }
    if (stage + 1 < shape_.stages) {
      bind(2 * rank);
      bind(2 * rank + 1);
    }
    job_.ranks.push_back(setup);
  }

  PipelineShape shape_;
  std::size_t first_data_ = 0;
  sim::Job job_;
};

}  // namespace

sim::Job pipeline_job(const PipelineShape& shape) { return PipelineJob(shape).run(); }

}  // namespace stepsim::bench
