#include "tests/sim/random_cluster.hpp"

#include "sim/program_builder.hpp"

#include "tests/sim/random_job.hpp"

#include <algorithm>
#include <string>

namespace stepsim::sim::testing {

namespace {

constexpr CollectiveId message{0};

/// The slots of a stage's program; a stage at the end of the pipeline lacks some.
struct StageSlots {
  SlotId tensor, data, from_before, to_next, from_next, to_before, ring_in, ring_out;
};

class ClusterJob {
 public:
  explicit ClusterJob(std::uint64_t seed)
      : random_(seed),
        tensor_(random_.between(1, 4)),
        data_(random_.between(1, 6)),
        stages_(random_.between(1, 4)),
        micro_batches_(random_.between(1, 3)),
        has_ring_(data_ > 1 && random_.one_in(3)) {}

  Job run() {
    add_costs();
    for (std::uint32_t stage = 0; stage < stages_; ++stage) add_program(stage);
    add_meeting_places();
    for (std::uint32_t rank = 0; rank < rank_count(); ++rank) add_rank(rank);
    for (std::uint32_t slow = random_.below(4); slow > 0; --slow) {
      job_.ranks[random_.below(rank_count())].compute_time_millionths =
          random_.one_in(2) ? 1'300'000 : random_.between(500'000, 2'000'000);
    }
    for (std::uint32_t dear = random_.below(3); dear > 0; --dear) {
      const auto count = static_cast<std::uint32_t>(job_.communicators.size());
      job_.communicators[random_.below(count)].cost_row = 1;
    }
    return std::move(job_);
  }

 private:
  std::uint32_t rank_count() const { return tensor_ * data_ * stages_; }
  std::uint32_t rank_of(std::uint32_t tensor, std::uint32_t data, std::uint32_t stage) const {
    return tensor + tensor_ * (data + data_ * stage);
  }

  Time some_time() { return Time::picoseconds(random_.one_in(3) ? 0 : random_.between(1, 20)); }

  void add_costs() {
    for (int i = 0; i < 4; ++i) {
      const Time fixed = some_time();
      job_.kernels.push_back({"k", "gemm", fixed, fixed + some_time(), Clock::compute, false});
    }
    job_.collectives = {{"send", "pipeline", Bytes(10)},
                        {"all_reduce", "tensor", Bytes(20)},
                        {"reduce_scatter", "data", Bytes(30)}};
    for (int row = 0; row < 2; ++row) {
      auto& costs = job_.collective_costs.emplace_back();
      for (int i = 0; i < 3; ++i) costs.push_back({some_time(), some_time(), "ring", false});
      // Of the dear row a part stands for a slow link.
      if (row == 0) continue;
      for (CollectiveCost& cost : costs)
        cost.slow_part = Time::picoseconds(cost.transfer.count_ps() / 2);
    }
  }

  void kernels(ProgramBuilder& b, StreamId stream) {
    for (std::uint32_t i = random_.between(1, 3); i > 0; --i) {
      b.kernel(stream, KernelId{random_.below(4)}, some_time());
    }
  }

  StageSlots add_slots(ProgramBuilder& b, std::uint32_t stage) {
    StageSlots slots;
    slots.tensor = b.add_communicator_slot("tensor");
    slots.data = b.add_communicator_slot("data");
    if (stage > 0) slots.from_before = b.add_channel_slot("pipeline");
    if (stage > 0) slots.to_before = b.add_channel_slot("pipeline");
    if (stage + 1 < stages_) slots.to_next = b.add_channel_slot("pipeline");
    if (stage + 1 < stages_) slots.from_next = b.add_channel_slot("pipeline");
    if (has_ring_) slots.ring_out = b.add_channel_slot("context");
    if (has_ring_) slots.ring_in = b.add_channel_slot("context");
    return slots;
  }

  void add_program(std::uint32_t stage) {
    ProgramBuilder b("stage " + std::to_string(stage));
    const StreamId compute = b.add_stream("default", StreamKind::compute);
    const StreamId sends = b.add_stream("send", StreamKind::communication);
    const StreamId reduces = b.add_stream("data", StreamKind::communication);
    const StageSlots slots = add_slots(b, stage);
    const std::uint32_t blocks = random_.between(1, 2);
    for (std::uint32_t m = 0; m < micro_batches_; ++m) {
      if (stage > 0) b.receive(compute, slots.from_before, message, some_time());
      add_blocks(b, compute, slots, blocks);
      if (stage + 1 < stages_) send(b, compute, sends, slots.to_next);
    }
    for (std::uint32_t m = 0; m < micro_batches_; ++m) {
      if (stage + 1 < stages_) b.receive(compute, slots.from_next, message, some_time());
      add_blocks(b, compute, slots, blocks);
      if (stage > 0) send(b, compute, sends, slots.to_before);
      b.wait_stream(reduces, compute);
      b.collective(reduces, slots.data, CollectiveId{2}, some_time());
    }
    if (random_.one_in(3)) b.host_sync_stream(reduces);
    b.wait_stream(compute, reduces);
    kernels(b, compute);
    job_.programs.push_back(b.finish());
  }

  void add_blocks(ProgramBuilder& b, StreamId compute, const StageSlots& slots,
                  std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      kernels(b, compute);
      b.collective(compute, slots.tensor, CollectiveId{1}, some_time());
      if (!has_ring_) continue;
      const StreamId out = ring_stream(b, compute);
      b.send(out, slots.ring_out, message, some_time());
      b.receive(compute, slots.ring_in, message, some_time());
    }
  }

  static StreamId ring_stream(ProgramBuilder& b, StreamId compute) {
    const StreamId out = b.add_stream("ring", StreamKind::communication);
    b.wait_stream(out, compute);
    return out;
  }

  void send(ProgramBuilder& b, StreamId compute, StreamId sends, SlotId slot) {
    b.wait_stream(sends, compute);
    b.send(sends, slot, message, some_time());
  }

  void add_meeting_places() {
    for (std::uint32_t stage = 0; stage < stages_; ++stage) {
      for (std::uint32_t d = 0; d < data_; ++d) {
        Communicator& c = job_.communicators.emplace_back(Communicator{"tensor", {}, 0});
        for (std::uint32_t t = 0; t < tensor_; ++t) c.members.push_back(Rank{rank_of(t, d, stage)});
      }
    }
    for (std::uint32_t stage = 0; stage < stages_; ++stage) {
      for (std::uint32_t t = 0; t < tensor_; ++t) {
        Communicator& c = job_.communicators.emplace_back(Communicator{"data", {}, 0});
        for (std::uint32_t d = 0; d < data_; ++d) c.members.push_back(Rank{rank_of(t, d, stage)});
      }
    }
  }

  std::uint32_t channel(std::uint32_t sender, std::uint32_t receiver, const char* group) {
    for (std::uint32_t i = 0; i < job_.channels.size(); ++i) {
      const Channel& known = job_.channels[i];
      if (known.sender == Rank{sender} && known.receiver == Rank{receiver} &&
          known.group == group) {
        return i;
      }
    }
    job_.channels.push_back({group, Rank{sender}, Rank{receiver}, 0});
    return static_cast<std::uint32_t>(job_.channels.size() - 1);
  }

  void add_rank(std::uint32_t rank) {
    const std::uint32_t t = rank % tensor_;
    const std::uint32_t d = rank / tensor_ % data_;
    const std::uint32_t stage = rank / tensor_ / data_;
    RankSetup setup{ProgramId{stage}, {stage * data_ + d, stages_ * data_ + stage * tensor_ + t}};
    const auto add = [&](std::uint32_t from, std::uint32_t to, const char* group) {
      setup.bindings.push_back(channel(from, to, group));
    };
    if (stage > 0) {
      const std::uint32_t before = rank_of(t, d, stage - 1);
      add(before, rank, "pipeline");
      add(rank, before, "pipeline");
    }
    if (stage + 1 < stages_) {
      const std::uint32_t next = rank_of(t, d, stage + 1);
      add(rank, next, "pipeline");
      add(next, rank, "pipeline");
    }
    if (has_ring_) {
      add(rank, rank_of(t, (d + 1) % data_, stage), "context");
      add(rank_of(t, (d + data_ - 1) % data_, stage), rank, "context");
    }
    job_.ranks.push_back(setup);
  }

  Random random_;
  std::uint32_t tensor_;
  std::uint32_t data_;
  std::uint32_t stages_;
  std::uint32_t micro_batches_;
  bool has_ring_;
  Job job_;
};

/// A node with slow ports: its link carries a third, and what crosses it costs more.
void slow_down(Job& job, LinkId link) {
  job.links[link.index()].capacity /= 3;
  const auto crosses = [&](const std::vector<LinkUse>& links) {
    return std::any_of(links.begin(), links.end(),
                       [&](const LinkUse& use) { return use.link == link; });
  };
  for (Communicator& communicator : job.communicators)
    if (crosses(communicator.links)) communicator.cost_row = 1;
  for (Channel& channel : job.channels)
    if (crosses(channel.links)) channel.cost_row = 1;
}

}  // namespace

Job random_cluster_job(std::uint64_t seed) { return ClusterJob(seed).run(); }

Job random_sharing_cluster_job(std::uint64_t seed) {
  Job job = random_cluster_job(seed);
  Random random(seed + 1'000'000);
  const std::uint32_t ranks_per_link = random.between(1, 4);
  add_sharing(job, random, ranks_per_link, random.one_in(2) ? 0 : random.below(ranks_per_link));
  if (random.one_in(5))
    job.links[random.below(static_cast<std::uint32_t>(job.links.size()))].capacity /= 2;
  if (random.one_in(3))
    slow_down(job, LinkId{random.below(static_cast<std::uint32_t>(job.links.size()))});
  for (Link& link : job.links) link.capacity = std::max<std::int64_t>(1, link.capacity);
  return job;
}

}  // namespace stepsim::sim::testing
