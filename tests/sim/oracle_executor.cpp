#include "tests/sim/oracle_executor.hpp"

#include <algorithm>
#include <deque>
#include <set>

namespace stepsim::sim::testing {

namespace {

constexpr std::size_t nothing = SIZE_MAX;

/// An op on a stream's queue.
struct Issued {
  std::size_t op = 0;
  std::size_t awaited_record = nothing;  // of a wait: the record op it refers to
  std::size_t number = 0;                // of a coupling op: its place among those of its slot
};

struct StreamOracle {
  std::deque<Issued> queue;
  std::optional<Time> busy_until;
};

struct RankOracle {
  std::size_t next_op = 0;
  std::optional<Time> host_busy_until;  // while it issues next_op
  std::vector<StreamOracle> streams;
  std::vector<std::size_t> latest_record;  // of each event, as issued so far
  std::vector<bool> recorded;              // by op: a record that has been reached
  std::vector<std::size_t> issued_on_slot;
  std::vector<std::size_t> finished_on_slot;  // meetings over
};

class Oracle {
 public:
  explicit Oracle(const Job& job) : job_(job), ranks_(job.ranks.size()) {
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      const Program& code = program(r);
      ranks_[r].streams.resize(code.streams.size());
      ranks_[r].latest_record.assign(code.event_count, nothing);
      ranks_[r].recorded.resize(code.ops.size());
      ranks_[r].issued_on_slot.resize(code.slots.size());
      ranks_[r].finished_on_slot.resize(code.slots.size());
      result_.ops.emplace_back(code.ops.size());
    }
    result_.rank_end.resize(ranks_.size());
    instants_.insert(Time::zero());
  }

  std::optional<OracleResult> run() {
    while (!instants_.empty()) {
      now_ = *instants_.begin();
      instants_.erase(instants_.begin());
      while (one_round()) {
      }
    }
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      if (ranks_[r].next_op < program(r).ops.size()) return std::nullopt;
      for (const StreamOracle& stream : ranks_[r].streams) {
        if (!stream.queue.empty()) return std::nullopt;
      }
    }
    return result_;
  }

 private:
  const Program& program(std::size_t rank) const {
    return job_.programs[job_.ranks[rank].program.index()];
  }

  bool one_round() {
    bool changed = false;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      changed = host_turn(r) || changed;
      for (StreamOracle& stream : ranks_[r].streams) changed = stream_turn(r, stream) || changed;
    }
    for (const Communicator& communicator : job_.communicators) {
      changed = meet(communicator.members, find(job_.communicators, communicator), false,
                     communicator.cost_row) ||
                changed;
    }
    for (const Channel& channel : job_.channels) {
      changed = meet({channel.sender, channel.receiver}, find(job_.channels, channel), true,
                     channel.cost_row) ||
                changed;
    }
    return changed;
  }

  template <class T>
  static std::size_t find(const std::vector<T>& all, const T& one) {
    return static_cast<std::size_t>(&one - all.data());
  }

  void reach(std::size_t rank) { result_.rank_end[rank] = std::max(result_.rank_end[rank], now_); }

  bool host_turn(std::size_t rank) {
    RankOracle& state = ranks_[rank];
    if (state.next_op >= program(rank).ops.size()) return false;
    const Op& op = program(rank).ops[state.next_op];
    if (!state.host_busy_until) {
      state.host_busy_until = now_ + op.host_time;
      instants_.insert(*state.host_busy_until);
      return true;
    }
    if (*state.host_busy_until > now_) return false;
    if (op.kind == OpKind::host_sync) {
      if (!sync_is_over(state, op)) return false;
      result_.ops[rank][state.next_op] = {now_, now_};
    }
    issue(rank, op);
    reach(rank);
    ++state.next_op;
    state.host_busy_until.reset();
    return true;
  }

  static bool sync_is_over(const RankOracle& state, const Op& op) {
    if (op.target == Op::no_target) {
      const StreamOracle& stream = state.streams[op.stream.index()];
      return stream.queue.empty();
    }
    const std::size_t record = state.latest_record[op.target];
    return record == nothing || state.recorded[record];
  }

  void issue(std::size_t rank, const Op& op) {
    RankOracle& state = ranks_[rank];
    Issued issued{state.next_op, nothing, 0};
    if (op.kind == OpKind::record) state.latest_record[op.target] = state.next_op;
    if (op.kind == OpKind::wait) issued.awaited_record = state.latest_record[op.target];
    if (is_coupling_op(op.kind)) issued.number = state.issued_on_slot[op.slot.index()]++;
    if (is_stream_op(op.kind)) state.streams[op.stream.index()].queue.push_back(issued);
  }

  bool stream_turn(std::size_t rank, StreamOracle& stream) {
    RankOracle& state = ranks_[rank];
    if (stream.queue.empty()) return false;
    const Issued front = stream.queue.front();
    const Op& op = program(rank).ops[front.op];
    if (op.kind == OpKind::record) {
      state.recorded[front.op] = true;
    } else if (op.kind == OpKind::wait) {
      if (front.awaited_record != nothing && !state.recorded[front.awaited_record]) return false;
    } else if (!stream.busy_until) {
      if (op.kind != OpKind::kernel) return false;
      start(rank, stream, now_ + kernel_time(rank, op));
      return true;
    } else {
      if (*stream.busy_until > now_) return false;
      stream.busy_until.reset();
      if (op.kind != OpKind::kernel) ++state.finished_on_slot[op.slot.index()];
    }
    reach(rank);
    stream.queue.pop_front();
    return true;
  }

  void start(std::size_t rank, StreamOracle& stream, Time end) {
    stream.busy_until = end;
    instants_.insert(end);
    result_.ops[rank][stream.queue.front().op] = {now_, end};
  }

  Time kernel_time(std::size_t rank, const Op& op) const {
    const std::int64_t factor = job_.ranks[rank].compute_time_millionths;
    const std::int64_t scaled = job_.kernels[op.target].time.count_ps() * factor;
    return Time::picoseconds(scaled / 1'000'000 + (scaled % 1'000'000 == 0 ? 0 : 1));
  }

  /// The stream whose first op is the rank's next meeting on the given rendezvous, if it is
  /// waiting.
  StreamOracle* waiting_stream(std::size_t rank, std::size_t rendezvous, bool is_channel) {
    RankOracle& state = ranks_[rank];
    for (StreamOracle& stream : state.streams) {
      if (stream.queue.empty() || stream.busy_until) continue;
      const Op& op = program(rank).ops[stream.queue.front().op];
      if (!is_coupling_op(op.kind)) continue;
      const std::size_t slot = op.slot.index();
      if (program(rank).slots[slot].is_channel == is_channel &&
          job_.ranks[rank].bindings[slot] == rendezvous &&
          stream.queue.front().number == state.finished_on_slot[slot]) {
        return &stream;
      }
    }
    return nullptr;
  }

  bool meet(const std::vector<Rank>& members, std::size_t rendezvous, bool is_channel,
            std::uint32_t cost_row) {
    std::vector<StreamOracle*> streams;
    std::set<std::uint32_t> targets;
    for (const Rank member : members) {
      StreamOracle* stream = waiting_stream(member.index(), rendezvous, is_channel);
      if (stream == nullptr) return false;
      streams.push_back(stream);
      targets.insert(program(member.index()).ops[stream->queue.front().op].target);
    }
    if (targets.size() > 1) return false;  // members that disagree wait for ever
    const CollectiveCost& cost = job_.collective_costs[cost_row][*targets.begin()];
    for (std::size_t i = 0; i < members.size(); ++i) {
      start(members[i].index(), *streams[i], now_ + cost.latency + cost.transfer);
    }
    return true;
  }

  const Job& job_;
  std::vector<RankOracle> ranks_;
  std::set<Time> instants_;
  Time now_;
  OracleResult result_;
};

}  // namespace

std::optional<OracleResult> oracle_execute(const Job& job) { return Oracle(job).run(); }

}  // namespace stepsim::sim::testing
