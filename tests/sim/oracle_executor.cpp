#include "tests/sim/oracle_executor.hpp"

#include "sim/kernel_pace.hpp"

#include <algorithm>
#include <deque>
#include <set>

namespace stepsim::sim::testing {

namespace {

constexpr std::size_t nothing = SIZE_MAX;
constexpr std::int64_t never = INT64_MAX;

/// Work that goes on at some speed; it ends when none is left.
struct Work {
  std::int64_t rest = 0;
  std::int64_t speed = 1;
  std::int64_t end_after(std::int64_t now) const { return now + (rest + speed - 1) / speed; }
};

/// An op on a stream's queue.
struct Issued {
  std::size_t op = 0;
  std::size_t awaited_record = nothing;  // of a wait: the record op it refers to
  std::size_t number = 0;                // of a coupling op: its place among those of its slot
};

struct StreamOracle {
  std::deque<Issued> queue;
  bool busy = false;  // with a kernel or in a meeting that has started
  Work kernel;
};

struct RankOracle {
  std::size_t next_op = 0;
  std::optional<std::int64_t> host_busy_until;  // while it issues next_op
  std::vector<StreamOracle> streams;
  std::vector<std::size_t> latest_record;  // of each event, as issued so far
  std::vector<bool> recorded;              // by op: a record that has been reached
  std::vector<std::size_t> issued_on_slot;
  std::vector<std::size_t> finished_on_slot;
};

struct MemberOracle {
  std::size_t rank = 0;
  StreamOracle* stream = nullptr;
};

/// A communicator or channel.
struct PlaceOracle {
  bool is_channel = false;
  std::size_t id = 0;
  std::vector<Rank> ranks;
  std::uint32_t cost_row = 0;
  std::vector<LinkUse> links;

  std::vector<MemberOracle> members;  // of the meeting in progress; empty when there is none
  const CollectiveCost* cost = nullptr;
  std::int64_t latency_until = 0;
  bool transfers = false;
  Work transfer;
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
    for (std::size_t i = 0; i < job.communicators.size(); ++i) {
      const Communicator& c = job.communicators[i];
      places_.push_back({false, i, c.members, c.cost_row, c.links, {}, nullptr, 0, false, {}});
    }
    for (std::size_t i = 0; i < job.channels.size(); ++i) {
      const Channel& c = job.channels[i];
      places_.push_back(
          {true, i, {c.sender, c.receiver}, c.cost_row, c.links, {}, nullptr, 0, false, {}});
    }
  }

  std::optional<OracleResult> run() {
    while (true) {
      while (one_round()) {
      }
      find_speeds();
      const std::int64_t next = next_instant();
      if (next == never) break;
      go_to(next);
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
  Time now() const { return Time::picoseconds(now_); }

  bool one_round() {
    bool changed = false;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      changed = host_turn(r) || changed;
      for (StreamOracle& stream : ranks_[r].streams) changed = stream_turn(r, stream) || changed;
    }
    for (PlaceOracle& place : places_) changed = meet(place) || changed;
    return changed;
  }

  void reach(std::size_t rank) { result_.rank_end[rank] = std::max(result_.rank_end[rank], now()); }

  bool host_turn(std::size_t rank) {
    RankOracle& state = ranks_[rank];
    if (state.next_op >= program(rank).ops.size()) return false;
    const Op& op = program(rank).ops[state.next_op];
    if (!state.host_busy_until) {
      state.host_busy_until = now_ + op.host_time.count_ps();
      return true;
    }
    if (*state.host_busy_until > now_) return false;
    if (op.kind == OpKind::host_sync) {
      if (!sync_is_over(state, op)) return false;
      result_.ops[rank][state.next_op] = {now(), now()};
    }
    issue(rank, op);
    reach(rank);
    ++state.next_op;
    state.host_busy_until.reset();
    return true;
  }

  static bool sync_is_over(const RankOracle& state, const Op& op) {
    if (op.target == Op::no_target) return state.streams[op.stream.index()].queue.empty();
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
    if (is_coupling_op(op.kind)) return false;  // see meet()
    if (op.kind == OpKind::record) {
      state.recorded[front.op] = true;
    } else if (op.kind == OpKind::wait) {
      if (front.awaited_record != nothing && !state.recorded[front.awaited_record]) return false;
    } else if (!stream.busy) {
      stream.busy = true;
      stream.kernel = {kernel_time(rank, front.op) * SpeedStep::full_speed, 1};
      result_.ops[rank][front.op].start = now();
      return true;
    } else if (stream.kernel.rest > 0) {
      return false;
    }
    pop(rank, stream);
    return true;
  }

  void pop(std::size_t rank, StreamOracle& stream) {
    const std::size_t op = stream.queue.front().op;
    if (stream.busy) result_.ops[rank][op].end = now();
    stream.busy = false;
    stream.queue.pop_front();
    reach(rank);
  }

  std::int64_t kernel_time(std::size_t rank, std::size_t index) const {
    const Op& op = program(rank).ops[index];
    const std::int64_t factor = job_.ranks[rank].compute_time_millionths;
    const std::int64_t scaled = job_.kernels[op.target].time.count_ps() * factor;
    const std::int64_t even = scaled / 1'000'000 + (scaled % 1'000'000 == 0 ? 0 : 1);
    const std::uint32_t noise = KernelPace(job_, Rank{static_cast<std::uint32_t>(rank)})
                                    .noise_65536ths(static_cast<std::uint32_t>(index));
    return (even * noise + 65'535) / 65'536;
  }

  /// The stream whose first op is the rank's next meeting at the place, if it is waiting.
  StreamOracle* waiting_stream(std::size_t rank, const PlaceOracle& place) {
    RankOracle& state = ranks_[rank];
    for (StreamOracle& stream : state.streams) {
      if (stream.queue.empty() || stream.busy) continue;
      const Op& op = program(rank).ops[stream.queue.front().op];
      if (!is_coupling_op(op.kind)) continue;
      const std::size_t slot = op.slot.index();
      if (program(rank).slots[slot].is_channel == place.is_channel &&
          job_.ranks[rank].bindings[slot] == place.id &&
          stream.queue.front().number == state.finished_on_slot[slot]) {
        return &stream;
      }
    }
    return nullptr;
  }

  bool meet(PlaceOracle& place) {
    if (place.members.empty()) return start_meeting(place);
    if (!place.transfers) {
      if (now_ < place.latency_until) return false;
      place.transfers = true;
      return true;
    }
    if (place.transfer.rest > 0) return false;
    for (const MemberOracle& member : place.members) {
      const Op& op = program(member.rank).ops[member.stream->queue.front().op];
      ++ranks_[member.rank].finished_on_slot[op.slot.index()];
      pop(member.rank, *member.stream);
    }
    place.members.clear();
    return true;
  }

  bool start_meeting(PlaceOracle& place) {
    std::vector<MemberOracle> members;
    std::set<std::uint32_t> targets;
    for (const Rank rank : place.ranks) {
      StreamOracle* stream = waiting_stream(rank.index(), place);
      if (stream == nullptr) return false;
      members.push_back({rank.index(), stream});
      targets.insert(program(rank.index()).ops[stream->queue.front().op].target);
    }
    if (targets.size() > 1) return false;  // members that disagree wait for ever
    place.members = members;
    place.cost = &job_.collective_costs[place.cost_row][*targets.begin()];
    place.latency_until = now_ + place.cost->latency.count_ps();
    place.transfers = false;
    place.transfer = {place.cost->transfer.count_ps() * own_rate(place), 1};
    for (const MemberOracle& member : members) {
      member.stream->busy = true;
      result_.ops[member.rank][member.stream->queue.front().op].start = now();
    }
    return true;
  }

  static bool uses_links(const PlaceOracle& place) {
    return place.cost->rate > 0 && !place.links.empty();
  }
  static std::int64_t own_rate(const PlaceOracle& place) {
    return uses_links(place) ? place.cost->rate : 1;
  }

  void find_speeds() {
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      std::uint32_t sms = 0;
      std::uint32_t memory = 0;
      for (PlaceOracle& place : places_)
        add_residency(place, Rank{static_cast<std::uint32_t>(r)}, sms, memory);
      for (StreamOracle& stream : ranks_[r].streams) {
        if (stream.queue.empty()) continue;
        const Op& op = program(r).ops[stream.queue.front().op];
        if (op.kind != OpKind::kernel) continue;
        const KernelSharing& sharing = job_.kernels[op.target].sharing;
        const std::int64_t product = std::int64_t{speed_at(sharing.by_sms_taken, sms)} *
                                     speed_at(sharing.by_memory_taken, memory);
        stream.kernel.speed = std::max<std::int64_t>(1, product / SpeedStep::full_speed);
      }
    }
    find_rates();
  }

  static std::uint32_t speed_at(const std::vector<SpeedStep>& steps, std::uint32_t taken) {
    std::uint32_t speed = SpeedStep::full_speed;
    for (const SpeedStep& step : steps) {
      if (taken >= step.taken) speed = step.speed;
    }
    return speed;
  }

  void add_residency(PlaceOracle& place, Rank rank, std::uint32_t& sms, std::uint32_t& memory) {
    if (std::find(place.ranks.begin(), place.ranks.end(), rank) == place.ranks.end()) return;
    if (!place.members.empty()) {
      sms += place.cost->sms;
      if (place.transfers) memory += place.cost->memory_thousandths;
    } else if (const StreamOracle* stream = waiting_stream(rank.index(), place)) {
      const Op& op = program(rank.index()).ops[stream->queue.front().op];
      sms += job_.collective_costs[place.cost_row][op.target].sms;
    }
  }

  /// Water filling, one level at a time.
  void find_rates() {
    std::vector<PlaceOracle*> growing;
    for (PlaceOracle& place : places_) {
      if (place.members.empty() || !place.transfers) continue;
      place.transfer.speed = own_rate(place);
      if (uses_links(place)) growing.push_back(&place);
    }
    std::vector<std::int64_t> rest;
    for (const Link& link : job_.links) rest.push_back(link.capacity);
    while (!growing.empty()) {
      std::int64_t level = never;
      for (const PlaceOracle* place : growing) {
        level = std::min(level, place->cost->rate);
        for (const LinkUse& use : place->links) {
          level = std::min(level, level_of(rest, growing, use.link));
        }
      }
      std::vector<PlaceOracle*> stopped;
      for (PlaceOracle* place : growing) {
        bool stops = place->cost->rate == level;
        for (const LinkUse& use : place->links) {
          stops = stops || level_of(rest, growing, use.link) == level;
        }
        if (stops) stopped.push_back(place);
      }
      const std::int64_t rate = std::max<std::int64_t>(1, level);
      for (PlaceOracle* place : stopped) {
        place->transfer.speed = rate;
        std::erase(growing, place);
        for (const LinkUse& use : place->links) rest[use.link.index()] -= rate * use.times;
      }
    }
  }

  static std::int64_t level_of(const std::vector<std::int64_t>& rest,
                               const std::vector<PlaceOracle*>& growing, LinkId link) {
    std::int64_t crossings = 0;
    for (const PlaceOracle* place : growing) {
      for (const LinkUse& use : place->links) crossings += use.link == link ? use.times : 0;
    }
    return std::max<std::int64_t>(0, rest[link.index()]) / crossings;
  }

  std::int64_t next_instant() const {
    std::int64_t next = never;
    for (const RankOracle& rank : ranks_) {
      if (rank.host_busy_until && *rank.host_busy_until > now_) {
        next = std::min(next, *rank.host_busy_until);
      }
      for (const StreamOracle& stream : rank.streams) {
        if (stream.busy && stream.kernel.rest > 0)
          next = std::min(next, stream.kernel.end_after(now_));
      }
    }
    for (const PlaceOracle& place : places_) {
      if (place.members.empty()) continue;
      next = std::min(next, place.transfers ? place.transfer.end_after(now_) : place.latency_until);
    }
    return next;
  }

  void go_to(std::int64_t next) {
    const std::int64_t passed = next - now_;
    for (RankOracle& rank : ranks_) {
      for (StreamOracle& stream : rank.streams) {
        if (stream.busy) stream.kernel.rest -= passed * stream.kernel.speed;
      }
    }
    for (PlaceOracle& place : places_) {
      if (!place.members.empty() && place.transfers) {
        place.transfer.rest -= passed * place.transfer.speed;
      }
    }
    now_ = next;
  }

  const Job& job_;
  std::vector<RankOracle> ranks_;
  std::vector<PlaceOracle> places_;
  std::int64_t now_ = 0;
  OracleResult result_;
};

}  // namespace

std::optional<OracleResult> oracle_execute(const Job& job) { return Oracle(job).run(); }

}  // namespace stepsim::sim::testing
