#include "sim/compiled_program.hpp"
#include "sim/executor.hpp"
#include "sim/kernel_pace.hpp"
#include "sim/rank_engine.hpp"

#include "sim/base/error.hpp"

#include <algorithm>

namespace stepsim::sim {

namespace {

/// A moment of a rank, and the op whose end it is.
struct Moment {
  Time time;
  std::optional<std::uint32_t> op;
};

struct StreamState {
  Moment last_end;  // of the stream's last op
  Moment hold;      // the latest event waited for
  Moment reached() const { return hold.time > last_end.time ? hold : last_end; }
};

/// Answers a rank's arrivals with the meetings of an execution.
class KnownMeetings : public RankEngine::Environment {
 public:
  KnownMeetings(const Job& job, const Execution& execution, Rank rank, const CompiledProgram& code)
      : job_(job), execution_(execution), rank_(rank), code_(code) {}

  std::vector<RankEngine::KernelTimes> kernel_times() {
    const RankSetup& setup = job_.ranks[rank_.index()];
    const Program& program = job_.programs[setup.program.index()];
    KernelSpeeds speeds(job_);
    const StreamProgram streams(program, code_);
    streams_ = &streams;
    RankEngine engine(streams, speeds, KernelPace(job_, rank_), 0, *this);
    engine_ = &engine;
    engine.watch(program.ops.size());
    engine.run(0);
    return engine.watched();
  }

 private:
  const CollectiveCost& cost(std::uint32_t meeting) const {
    const RankSetup& setup = job_.ranks[rank_.index()];
    const Program& program = job_.programs[setup.program.index()];
    const Op& op = program.ops[code_.meetings[meeting].op];
    const std::uint32_t bound = setup.bindings[op.slot.index()];
    const std::uint32_t row = op.kind == OpKind::collective ? job_.communicators[bound].cost_row
                                                            : job_.channels[bound].cost_row;
    return job_.collective_costs[row][op.target];
  }

  void arrive(std::uint32_t, std::uint32_t meeting, std::int64_t) override {
    const ProgramMeeting& place = code_.meetings[meeting];
    const Meeting& known = execution_.of_slot(job_, rank_, place.slot).at(place.index);
    const std::uint32_t stream = streams_->meetings[meeting].stream;
    engine_->await(stream, cost(meeting));
    engine_->set_times(stream, known.start.count_ps(), known.end.count_ps());
  }

  std::int64_t earliest_end(std::uint32_t, std::uint32_t) override { return 0; }

  const Job& job_;
  const Execution& execution_;
  Rank rank_;
  const CompiledProgram& code_;
  const StreamProgram* streams_ = nullptr;
  RankEngine* engine_ = nullptr;
};

class Replayer {
 public:
  Replayer(const Job& job, const Execution& execution, Rank rank)
      : job_(job),
        execution_(execution),
        rank_(rank),
        setup_(job.ranks.at(rank.index())),
        pace_(job, rank),
        program_(job.programs[setup_.program.index()]),
        streams_(program_.streams.size()),
        events_(program_.event_count),
        meeting_count_(program_.slots.size()),
        slot_free_(program_.slots.size()) {}

  std::vector<OpTimes> run() {
    if (shares_resources(job_)) {
      const CompiledProgram code = compile(job_, program_);
      kernel_times_ = KnownMeetings(job_, execution_, rank_, code).kernel_times();
    }
    times_.reserve(program_.ops.size());
    for (std::uint32_t i = 0; i < program_.ops.size(); ++i) times_.push_back(replay_op(i));
    return std::move(times_);
  }

 private:
  OpTimes replay_op(std::uint32_t index) {
    const Op& op = program_.ops[index];
    const Time before = host_;
    host_ += op.host_time;
    switch (op.kind) {
      case OpKind::kernel:
        return replay_kernel(index);
      case OpKind::collective:
      case OpKind::send:
      case OpKind::receive:
        return replay_meeting(index);
      case OpKind::record: {
        events_[op.target] = streams_[op.stream.index()].reached();
        return instant(op);
      }
      case OpKind::wait: {
        Moment& hold = streams_[op.stream.index()].hold;
        if (events_[op.target].time > hold.time) hold = events_[op.target];
        return instant(op);
      }
      case OpKind::host_sync:
        return replay_sync(op, before);
      case OpKind::host_work:
      case OpKind::allocate:
      case OpKind::free:
        break;
    }
    return {host_, before, before, host_, ArrivalCause::host, std::nullopt};
  }

  /// When an op of the stream is ready, and why.
  OpTimes ready(const Op& op) const {
    const StreamState& stream = streams_[op.stream.index()];
    OpTimes times;
    times.issued = host_;
    times.arrival = stream.last_end.time;
    times.cause = ArrivalCause::stream;
    times.predecessor = stream.last_end.op;
    if (host_ > times.arrival || !times.predecessor) {
      times.arrival = host_;
      times.cause = ArrivalCause::host;
      times.predecessor.reset();
    }
    if (stream.hold.time > times.arrival) {
      times.arrival = stream.hold.time;
      times.cause = ArrivalCause::event;
      times.predecessor = stream.hold.op;
    }
    return times;
  }

  OpTimes instant(const Op& op) const {
    OpTimes times = ready(op);
    times.start = times.end = times.arrival;
    return times;
  }

  OpTimes replay_kernel(std::uint32_t index) {
    const Op& op = program_.ops[index];
    OpTimes times = ready(op);
    times.start = times.arrival;
    times.end = kernel_end(index, times.start);
    streams_[op.stream.index()].last_end = {times.end, index};
    return times;
  }

  Time kernel_end(std::uint32_t index, Time start) const {
    const Time time = job_.kernels[program_.ops[index].target].time;
    if (kernel_times_.empty()) return start + pace_.of(time, index);
    if (kernel_times_[index].start_ps != start.count_ps()) {
      throw InternalError("replay: a kernel starts at two different times");
    }
    return Time::picoseconds(kernel_times_[index].end_ps);
  }

  OpTimes replay_meeting(std::uint32_t index) {
    const Op& op = program_.ops[index];
    OpTimes times = ready(op);
    Moment& free = slot_free_[op.slot.index()];
    if (free.time > times.arrival) {
      times.arrival = free.time;
      times.cause = ArrivalCause::communicator;
      times.predecessor = free.op;
    }
    const Meeting& meeting = next_meeting(op);
    times.start = meeting.start;
    times.end = meeting.end;
    if (times.start < times.arrival) {
      throw InternalError("replay: a rank arrives at a meeting after it has started");
    }
    free = {times.end, index};
    streams_[op.stream.index()].last_end = free;
    return times;
  }

  const Meeting& next_meeting(const Op& op) {
    return execution_.of_slot(job_, rank_, op.slot).at(meeting_count_[op.slot.index()]++);
  }

  OpTimes replay_sync(const Op& op, Time before) {
    const Moment awaited =
        op.target == Op::no_target ? streams_[op.stream.index()].reached() : events_[op.target];
    OpTimes times{host_, before, before, host_, ArrivalCause::host, std::nullopt};
    if (awaited.time > host_) {
      times.cause = ArrivalCause::event;
      times.predecessor = awaited.op;
      times.end = host_ = awaited.time;
    }
    return times;
  }

  const Job& job_;
  const Execution& execution_;
  Rank rank_;
  const RankSetup& setup_;
  KernelPace pace_;
  const Program& program_;
  Time host_;
  std::vector<StreamState> streams_;
  std::vector<Moment> events_;
  std::vector<std::size_t> meeting_count_;
  std::vector<Moment> slot_free_;
  std::vector<OpTimes> times_;
  std::vector<RankEngine::KernelTimes> kernel_times_;  // where kernels slow each other down
};

}  // namespace

std::vector<OpTimes> replay(const Job& job, const Execution& execution, Rank rank) {
  return Replayer(job, execution, rank).run();
}

}  // namespace stepsim::sim
