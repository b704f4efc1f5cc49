#include "sim/rank_engine.hpp"

#include "sim/base/error.hpp"

#include <algorithm>

namespace stepsim::sim {

namespace {

std::int64_t later_by(std::int64_t time_ps, std::int64_t length_ps) {
  return (Time::picoseconds(time_ps) + Time::picoseconds(length_ps)).count_ps();
}

/// The longest kernel whose work fits 63 bits: about 140 s.
constexpr std::int64_t longest_kernel_ps = INT64_MAX / SpeedStep::full_speed;

/// How long after its start a meeting can first change what kernels are left: when it begins to
/// take memory bandwidth, or when it ends.
std::int64_t first_change_after(const CollectiveCost& cost) {
  if (cost.memory_thousandths > 0) return cost.latency.count_ps();
  return (cost.latency + cost.transfer).count_ps();
}

}  // namespace

RankEngine::RankEngine(const StreamProgram& code, KernelSpeeds& speeds, const KernelPace& pace,
                       std::uint32_t participant, Environment& environment)
    : code_(&code),
      speeds_(&speeds),
      pace_(pace),
      environment_(&environment),
      participant_(participant),
      speed_of_kernel_(speeds.while_taken(0, 0)),
      streams_(code.of_stream.size() + 1),
      next_(code.of_stream.size(), never),
      change_(code.of_stream.size(), never),
      host_base_{0} {
  if (streams_.size() >= nobody) throw RangeError("a program with more than 65,534 streams");
  for (std::size_t s = 0; s < stream_count(); ++s) look_at(s);
  advance_host();
}

std::int64_t RankEngine::next_time() const {
  std::int64_t next = never;
  for (const std::int64_t time : next_) next = std::min(next, time);
  return next;
}

bool RankEngine::can_run(std::int64_t present) {
  present_ = present;
  const std::int64_t next = next_time();
  if (next == never) return false;
  if (next <= safe_until()) return true;
  for (std::size_t s = 0; s < stream_count(); ++s) {
    if (change_[s] >= next) continue;
    const StreamState& stream = streams_[s];
    const std::uint32_t meeting = code_->of_stream[s][stream.cursor].target;
    std::int64_t change = environment_->earliest_end(participant_, meeting);
    if (stream.phase == Phase::waiting && stream.cost->memory_thousandths > 0) {
      change -= stream.cost->transfer.count_ps();
    }
    change_[s] = std::max(change_[s], change);
    if (change_[s] < next) {
      find_horizon();
      return false;
    }
  }
  find_horizon();
  return true;
}

void RankEngine::run(std::int64_t present) {
  present_ = present;
  while (true) {
    std::size_t first = 0;
    std::int64_t time = never;
    std::int64_t second = never;
    for (std::size_t s = 0; s < next_.size(); ++s) {
      if (next_[s] < time) {
        second = time;
        time = next_[s];
        first = s;
      } else if (next_[s] < second) {
        second = next_[s];
      }
    }
    const std::int64_t safe = safe_until();
    if (time == never || time > safe) return;
    now_ = time;
    happen(first, std::min(second, safe));
  }
}

/// The stream's next moment has come; nothing else changes before `until`.
void RankEngine::happen(std::size_t index, std::int64_t until) {
  StreamState& stream = streams_[index];
  switch (stream.phase) {
    case Phase::ready:
      if (!code_->of_stream[index][stream.cursor].is_kernel) return begin_meeting(index);
      return run_kernels(index, until);
    case Phase::kernel:
      return end_kernel(index, until);
    case Phase::latency:
      stream.phase = Phase::transfer;
      next_[index] = stream.rest;
      if (stream.cost->memory_thousandths > 0) {
        memory_taken_ += stream.cost->memory_thousandths;
        change_speeds();
      }
      return;
    case Phase::transfer:
      return end_meeting(index);
    case Phase::blocked:
    case Phase::waiting:
      throw InternalError("a moment of a stream that waits");
  }
}

/// Runs kernels one after the other as long as each ends by `until`, up to which speeds are
/// constant. The stream is ready for a kernel.
void RankEngine::run_kernels(std::size_t index, std::int64_t until) {
  StreamState& stream = streams_[index];
  const std::vector<StreamOp>& ops = code_->of_stream[index];
  std::int64_t start = next_[index];
  while (true) {
    const StreamOp& op = ops[stream.cursor];
    const std::int64_t work = work_of(op);
    const std::uint32_t speed = speed_of_kernel_[op.target];
    const std::int64_t end = later_by(start, time_left(work, speed));
    if (!watched_.empty()) watched_[op.op] = {start, end};
    if (end > until) {
      stream.phase = Phase::kernel;
      stream.rest = work;
      stream.since = start;
      stream.speed = speed;
      next_[index] = end;
      ++running_kernels_;
      return;
    }
    now_ = end;
    stream.reached = end;
    ++stream.cursor;
    if (stream.cursor >= stream.wake_at) {
      look_at(index);
      return wake_waiters(index);
    }
    if (stream.cursor == ops.size()) return look_at(index);
    const StreamOp& next = ops[stream.cursor];
    if (!next.is_kernel || next.wait_count > 0 || next.syncs_before >= host_base_.size()) {
      return look_at(index);
    }
    start = std::max(end, issued(next));
    if (start > until) {
      stream.phase = Phase::ready;
      next_[index] = start;
      return;
    }
  }
}

void RankEngine::end_kernel(std::size_t index, std::int64_t until) {
  StreamState& stream = streams_[index];
  --running_kernels_;
  if (!watched_.empty()) watched_[code_->of_stream[index][stream.cursor].op].end_ps = now_;
  const bool is_awaited = stream.cursor + 1 >= stream.wake_at;
  finish_op(index);
  if (is_awaited || stream.phase != Phase::ready || next_[index] > until) return;
  if (code_->of_stream[index][stream.cursor].is_kernel) run_kernels(index, until);
}

void RankEngine::begin_meeting(std::size_t index) {
  StreamState& stream = streams_[index];
  stream.phase = Phase::waiting;
  next_[index] = never;
  environment_->arrive(participant_, code_->of_stream[index][stream.cursor].target, now_);
}

void RankEngine::await(std::uint32_t index, const CollectiveCost& cost) {
  StreamState& stream = streams_[index];
  stream.rest = never;
  stream.cost = &cost;
  ++open_meetings_;
  change_[index] = later_by(present_, first_change_after(cost));
  horizon_ = std::min(horizon_, change_[index]);
  if (cost.sms > 0) {
    sms_taken_ += cost.sms;
    change_speeds();
  }
}

void RankEngine::set_start(std::uint32_t index, std::int64_t start_ps) {
  start_meeting(index, start_ps);
  find_horizon();
}

void RankEngine::set_end(std::uint32_t index, std::int64_t end_ps) {
  close_meeting(index, end_ps);
  find_horizon();
}

void RankEngine::set_times(std::uint32_t index, std::int64_t start_ps, std::int64_t end_ps) {
  start_meeting(index, start_ps);
  close_meeting(index, end_ps);
  find_horizon();
}

void RankEngine::start_meeting(std::size_t index, std::int64_t start_ps) {
  StreamState& stream = streams_[index];
  const std::int64_t transfer_begin = later_by(start_ps, stream.cost->latency.count_ps());
  change_[index] = later_by(transfer_begin, stream.cost->transfer.count_ps());
  if (stream.cost->memory_thousandths > 0) {
    stream.phase = Phase::latency;
    next_[index] = transfer_begin;
  } else {
    stream.phase = Phase::transfer;  // it begins unnoticed; the engine may be past that
  }
}

void RankEngine::close_meeting(std::size_t index, std::int64_t end_ps) {
  StreamState& stream = streams_[index];
  stream.rest = end_ps;
  if (stream.phase == Phase::transfer) next_[index] = end_ps;
  --open_meetings_;
  change_[index] = never;
}

void RankEngine::end_meeting(std::size_t index) {
  const CollectiveCost& cost = *streams_[index].cost;
  sms_taken_ -= cost.sms;
  memory_taken_ -= cost.memory_thousandths;
  if (cost.sms > 0 || cost.memory_thousandths > 0) change_speeds();
  finish_op(index);
}

/// The stream's present op has ended now.
void RankEngine::finish_op(std::size_t index) {
  StreamState& stream = streams_[index];
  stream.reached = now_;
  ++stream.cursor;
  look_at(index);
  if (stream.cursor >= stream.wake_at) wake_waiters(index);
}

void RankEngine::wake_waiters(std::size_t index) {
  std::uint16_t waiter = streams_[index].first_waiter;
  streams_[index].first_waiter = nobody;
  streams_[index].wake_at = UINT32_MAX;
  while (waiter != nobody) {
    const std::uint16_t next = streams_[waiter].next_waiter;
    if (waiter == stream_count()) {
      advance_host();
    } else {
      look_at(waiter);
    }
    waiter = next;
  }
}

/// Finds out when the stream's next op begins. If it waits, the stream is looked at again as soon
/// as what it waits for has happened, so that then is now.
void RankEngine::look_at(std::size_t index) {
  StreamState& stream = streams_[index];
  next_[index] = never;
  stream.phase = Phase::blocked;
  stream.blocked_by = nobody;
  if (stream.cursor == code_->of_stream[index].size()) return;
  const StreamOp& op = code_->of_stream[index][stream.cursor];
  const auto syncs_passed = static_cast<std::uint32_t>(host_base_.size() - 1);
  if (op.syncs_before > syncs_passed) {
    StreamState& host = streams_.back();
    stream.next_waiter = host.first_waiter;
    host.first_waiter = static_cast<std::uint16_t>(index);
    return;
  }
  for (const StreamWait& wait : code_->waits_of(op)) {
    if (blocks(index, wait)) return;
  }
  stream.reached = std::max(stream.reached, now_);
  stream.phase = Phase::ready;
  next_[index] = std::max(stream.reached, issued(op));
}

/// Whether a stream, or the host, has to wait; if so it is put on the list of those that do.
bool RankEngine::blocks(std::size_t waiter, const StreamWait& wait) {
  StreamState& awaited = streams_[wait.stream];
  if (awaited.cursor >= wait.finished) return false;
  StreamState& state = streams_[waiter];
  state.blocked_by = static_cast<std::uint16_t>(wait.stream);
  state.next_waiter = awaited.first_waiter;
  awaited.first_waiter = static_cast<std::uint16_t>(waiter);
  awaited.wake_at = std::min(awaited.wake_at, wait.finished);
  return true;
}

void RankEngine::advance_host() {
  while (!finished_) {
    const StreamProgram::Sync& sync = code_->syncs[host_base_.size() - 1];
    for (const StreamWait& wait : code_->waits_of(sync)) {
      if (blocks(stream_count(), wait)) return;
    }
    const std::int64_t passed = std::max(later_by(host_base_.back(), sync.host_offset), now_);
    if (host_base_.size() == code_->syncs.size()) {
      finished_ = true;
      end_ = passed;
      return;
    }
    host_base_.push_back(passed);
    wake_waiters(stream_count());
  }
}

std::int64_t RankEngine::work_of(const StreamOp& op) const {
  const std::int64_t time = pace_.of(Time::picoseconds(op.duration), op.op).count_ps();
  if (time > longest_kernel_ps) {
    throw RangeError("a kernel that shares its device takes more than 140 s");
  }
  return time * SpeedStep::full_speed;
}

std::int64_t RankEngine::time_left(std::int64_t rest, std::uint32_t speed) const {
  if (speed == SpeedStep::full_speed) {
    return rest / SpeedStep::full_speed + (rest % SpeedStep::full_speed == 0 ? 0 : 1);
  }
  const auto whole = static_cast<std::uint64_t>(rest) / speed;
  return static_cast<std::int64_t>(whole +
                                   (whole * speed == static_cast<std::uint64_t>(rest) ? 0 : 1));
}

/// Books the work done so far by running kernels, and goes on at the speed that now holds.
void RankEngine::change_speeds() {
  speed_of_kernel_ = speeds_->while_taken(sms_taken_, memory_taken_);
  if (running_kernels_ == 0) return;
  for (std::size_t s = 0; s < stream_count(); ++s) {
    StreamState& stream = streams_[s];
    if (stream.phase != Phase::kernel) continue;
    const std::uint32_t speed = speed_of_kernel_[code_->of_stream[s][stream.cursor].target];
    if (speed == stream.speed) continue;
    stream.rest = std::max<std::int64_t>(0, stream.rest - (now_ - stream.since) * stream.speed);
    stream.since = now_;
    stream.speed = speed;
    next_[s] = later_by(now_, time_left(stream.rest, speed));
  }
}

void RankEngine::find_horizon() {
  horizon_ = never;
  if (open_meetings_ == 0) return;
  for (const std::int64_t change : change_) horizon_ = std::min(horizon_, change);
}

/// The earliest moment at which a stream can finish its present op, where it has begun one.
std::int64_t RankEngine::earliest_finish(const StreamState& state, std::size_t stream) const {
  switch (state.phase) {
    case Phase::kernel:
      return state.since + state.rest / SpeedStep::full_speed;
    case Phase::waiting:
      return change_[stream] +
             (state.cost->memory_thousandths > 0 ? state.cost->transfer.count_ps() : 0);
    case Phase::latency:
    case Phase::transfer:
      return state.rest == never ? change_[stream] : state.rest;
    case Phase::blocked:
    case Phase::ready:
      break;
  }
  return 0;
}

std::int64_t RankEngine::earliest_arrival(std::uint32_t meeting, std::int64_t present) const {
  const StreamWait& longest = code_->meetings[meeting].longest;
  const StreamState& stream = streams_[longest.stream];
  if (stream.cursor >= longest.finished) return present;
  std::int64_t from = std::max(present, earliest_finish(stream, longest.stream));
  if (stream.phase == Phase::blocked && stream.blocked_by != nobody) {
    from = std::max(from, earliest_finish(streams_[stream.blocked_by], stream.blocked_by));
  }
  const bool begun = stream.phase != Phase::blocked && stream.phase != Phase::ready;
  const std::vector<std::int64_t>& work_before = code_->work_before[longest.stream];
  const std::int64_t work =
      work_before[longest.finished] - work_before[stream.cursor + (begun ? 1 : 0)];
  return later_by(from, pace_.at_least(work));
}

}  // namespace stepsim::sim
