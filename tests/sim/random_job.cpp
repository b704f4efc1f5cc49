#include "tests/sim/random_job.hpp"

#include "sim/program_builder.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace stepsim::sim::testing {

namespace {

Time random_time(Random& random) {
  if (random.one_in(4)) return Time::zero();
  return Time::picoseconds(random.one_in(3) ? random.between(1, 1000) : random.between(1, 4));
}

void add_costs(Job& job, Random& random) {
  constexpr std::uint32_t kernel_count = 6;
  constexpr std::uint32_t collective_count = 3;
  for (std::uint32_t i = 0; i < kernel_count; ++i) {
    const Time fixed = random_time(random);
    const auto clock = static_cast<Clock>(random.below(clock_count));
    job.kernels.push_back(
        {"k" + std::to_string(i), "gemm", fixed, fixed + random_time(random), clock, false});
  }
  for (std::uint32_t i = 0; i < collective_count; ++i) {
    job.collectives.push_back({"c" + std::to_string(i), "g", Bytes(random.between(1, 100))});
  }
  for (int row = 0; row < 2; ++row) {
    auto& costs = job.collective_costs.emplace_back();
    for (std::uint32_t i = 0; i < collective_count; ++i) {
      costs.push_back({random_time(random), random_time(random), "ring", false});
    }
  }
}

/// Emits one program: streams and events of its own, meetings where it is told.
class RandomProgram {
 public:
  RandomProgram(std::string name, Random& random, const Job& job)
      : random_(random), job_(job), builder_(std::move(name)) {
    const std::uint32_t streams = random_.between(1, 4);
    for (std::uint32_t s = 0; s < streams; ++s) {
      streams_.push_back(builder_.add_stream(
          "s" + std::to_string(s), static_cast<StreamKind>(s == 0 ? 0 : random_.below(3))));
    }
    const std::uint32_t events = random_.between(1, 3);
    for (std::uint32_t e = 0; e < events; ++e) events_.push_back(builder_.add_event());
  }

  ProgramBuilder& builder() { return builder_; }
  StreamId stream() { return streams_[random_.below(static_cast<std::uint32_t>(streams_.size()))]; }
  EventId event() { return events_[random_.below(static_cast<std::uint32_t>(events_.size()))]; }

  void local_ops() {
    const std::uint32_t count = random_.below(6);
    for (std::uint32_t i = 0; i < count; ++i) local_op();
  }

 private:
  void local_op() {
    switch (random_.below(16)) {
      case 0:
      case 1:
      case 2:
        return builder_.record(event(), stream());
      case 3:
      case 4:
      case 5:
        return builder_.wait(stream(), event());
      case 6:
        return builder_.wait_stream(stream(), stream());
      case 7:
        return builder_.host_work(random_time(random_));
      case 8:
        return builder_.host_sync(event());
      case 9:
        return random_.one_in(2) ? builder_.host_sync_stream(stream()) : void();
      default:
        return builder_.kernel(
            stream(), KernelId{random_.below(static_cast<std::uint32_t>(job_.kernels.size()))},
            random_time(random_));
    }
  }

  Random& random_;
  const Job& job_;
  ProgramBuilder builder_;
  std::vector<StreamId> streams_;
  std::vector<EventId> events_;
};

struct PlannedMeeting {
  std::uint32_t rendezvous = 0;  // communicators first, then channels
  CollectiveId collective;
};

class RandomJob {
 public:
  RandomJob(std::uint64_t seed, const RandomJobOptions& options)
      : random_(seed), options_(options) {}

  Job run() {
    add_costs(job_, random_);
    rank_count_ = random_.between(1, 6);
    add_rendezvous();
    std::vector<PlannedMeeting> plan(total() == 0 ? 0 : random_.below(12));
    for (PlannedMeeting& meeting : plan) {
      meeting.rendezvous = random_.below(total());
      meeting.collective =
          CollectiveId{random_.below(static_cast<std::uint32_t>(job_.collectives.size()))};
    }
    for (std::uint32_t r = 0; r < rank_count_; ++r) add_rank(Rank{r}, plan);
    return std::move(job_);
  }

 private:
  std::uint32_t total() const {
    return static_cast<std::uint32_t>(job_.communicators.size() + job_.channels.size());
  }

  void add_rendezvous() {
    const std::uint32_t communicators = random_.below(4);
    for (std::uint32_t c = 0; c < communicators; ++c) {
      Communicator communicator{"shard", {}, random_.below(2)};
      const Rank sure{random_.below(rank_count_)};
      for (std::uint32_t r = 0; r < rank_count_; ++r) {
        if (Rank{r} == sure || !random_.one_in(3)) communicator.members.push_back(Rank{r});
      }
      job_.communicators.push_back(communicator);
    }
    const std::uint32_t channels = rank_count_ < 2 ? 0 : random_.below(4);
    for (std::uint32_t c = 0; c < channels; ++c) {
      const Rank sender{random_.below(rank_count_)};
      const Rank receiver{(sender.value + random_.between(1, rank_count_ - 1)) % rank_count_};
      job_.channels.push_back({"pipeline", sender, receiver, random_.below(2)});
    }
  }

  bool takes_part(Rank rank, std::uint32_t rendezvous) const {
    if (rendezvous >= job_.communicators.size()) {
      const Channel& channel = job_.channels[rendezvous - job_.communicators.size()];
      return channel.sender == rank || channel.receiver == rank;
    }
    const auto& members = job_.communicators[rendezvous].members;
    return std::find(members.begin(), members.end(), rank) != members.end();
  }

  void add_rank(Rank rank, std::vector<PlannedMeeting> plan) {
    if (options_.shuffle_meetings) {
      for (std::size_t i = 1; i < plan.size(); ++i) {
        if (random_.one_in(4) && plan[i].rendezvous != plan[i - 1].rendezvous) {
          std::swap(plan[i], plan[i - 1]);
        }
      }
    }
    RandomProgram program("p" + std::to_string(rank.value), random_, job_);
    RankSetup setup;
    std::vector<SlotId> slot_of(total());
    for (std::uint32_t i = 0; i < total(); ++i) {
      if (!takes_part(rank, i)) continue;
      const auto communicators = static_cast<std::uint32_t>(job_.communicators.size());
      const bool is_channel = i >= communicators;
      slot_of[i] = is_channel ? program.builder().add_channel_slot("pipeline")
                              : program.builder().add_communicator_slot("shard");
      setup.bindings.push_back(is_channel ? i - communicators : i);
    }
    for (const PlannedMeeting& meeting : plan) {
      program.local_ops();
      if (takes_part(rank, meeting.rendezvous)) meet(rank, program, meeting, slot_of);
    }
    program.local_ops();
    setup.program = ProgramId{static_cast<std::uint32_t>(job_.programs.size())};
    job_.programs.push_back(program.builder().finish());
    job_.ranks.push_back(setup);
  }

  void meet(Rank rank, RandomProgram& program, const PlannedMeeting& meeting,
            const std::vector<SlotId>& slot_of) {
    const SlotId slot = slot_of[meeting.rendezvous];
    const Time host_time = random_time(random_);
    ProgramBuilder& builder = program.builder();
    if (meeting.rendezvous < job_.communicators.size()) {
      return builder.collective(program.stream(), slot, meeting.collective, host_time);
    }
    const Channel& channel = job_.channels[meeting.rendezvous - job_.communicators.size()];
    if (channel.sender == rank) {
      builder.send(program.stream(), slot, meeting.collective, host_time);
    } else {
      builder.receive(program.stream(), slot, meeting.collective, host_time);
    }
  }

  Random random_;
  RandomJobOptions options_;
  std::uint32_t rank_count_ = 0;
  Job job_;
};

}  // namespace

Job random_job(std::uint64_t seed, const RandomJobOptions& options) {
  return RandomJob(seed, options).run();
}

Job random_grid_job(std::uint64_t seed) {
  Random random(seed);
  Job job;
  add_costs(job, random);
  const std::uint32_t rows = random.between(1, 4);
  const std::uint32_t columns = random.between(1, 4);
  RandomProgram program("grid", random, job);
  const SlotId row = program.builder().add_communicator_slot("row");
  const SlotId column = program.builder().add_communicator_slot("column");
  const std::uint32_t meetings = random.below(12);
  for (std::uint32_t i = 0; i < meetings; ++i) {
    program.local_ops();
    program.builder().collective(
        program.stream(), random.one_in(2) ? row : column,
        CollectiveId{random.below(static_cast<std::uint32_t>(job.collectives.size()))},
        random_time(random));
  }
  program.local_ops();
  job.programs.push_back(program.builder().finish());
  for (std::uint32_t r = 0; r < rows; ++r) job.communicators.push_back({"row", {}, 0});
  for (std::uint32_t c = 0; c < columns; ++c) job.communicators.push_back({"column", {}, 1});
  for (std::uint32_t i = 0; i < rows * columns; ++i) {
    const std::uint32_t in_row = i / columns;
    const std::uint32_t in_column = rows + i % columns;
    job.ranks.push_back({ProgramId{0}, {in_row, in_column}});
    job.communicators[in_row].members.push_back(Rank{i});
    job.communicators[in_column].members.push_back(Rank{i});
  }
  return job;
}

namespace {

std::vector<SpeedStep> random_steps(Random& random, std::uint32_t unit) {
  std::vector<SpeedStep> steps;
  const std::uint32_t count = random.below(3);
  for (std::uint32_t i = 1; i <= count; ++i) {
    steps.push_back({i * unit, SpeedStep::full_speed / (i + random.below(3)) + random.below(5)});
    steps.back().speed = std::min(steps.back().speed, SpeedStep::full_speed);
  }
  return steps;
}

/// How often a message or collective of the members crosses each link: once a member behind it.
std::vector<LinkUse> links_of(const std::vector<Rank>& members, std::uint32_t ranks_per_link,
                              std::uint32_t shift) {
  std::vector<LinkUse> links;
  for (const Rank rank : members) {
    const LinkId link{(rank.value + shift) / ranks_per_link};
    const auto known = std::find_if(links.begin(), links.end(),
                                    [&](const LinkUse& use) { return use.link == link; });
    if (known == links.end()) {
      links.push_back({link, 1});
    } else {
      ++known->times;
    }
  }
  std::sort(links.begin(), links.end());
  return links;
}

}  // namespace

void add_sharing(Job& job, Random& random, std::uint32_t ranks_per_link, std::uint32_t shift) {
  for (KernelCost& kernel : job.kernels) {
    kernel.sharing = {random_steps(random, 8), random_steps(random, 200)};
  }
  for (auto& row : job.collective_costs) {
    for (CollectiveCost& cost : row) {
      cost.sms = 8 * random.below(3);
      cost.memory_thousandths = 200 * random.below(3);
      cost.rate = random.one_in(4) ? 0 : random.between(1, 50);
    }
  }
  const auto ranks = static_cast<std::uint32_t>(job.ranks.size());
  const std::int64_t capacity = random.between(5, 60);
  for (std::uint32_t i = 0; i <= (ranks + shift) / ranks_per_link; ++i) {
    job.links.push_back({"nic " + std::to_string(i), capacity});
  }
  for (Communicator& c : job.communicators) c.links = links_of(c.members, ranks_per_link, shift);
  for (Channel& c : job.channels) {
    c.links = links_of({c.sender, c.receiver}, ranks_per_link, shift);
  }
}

}  // namespace stepsim::sim::testing
