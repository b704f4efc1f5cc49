#include "sim/rank_engine.hpp"

#include "sim/base/error.hpp"

#include <algorithm>

namespace stepsim::sim {

namespace {

std::int64_t later_by(std::int64_t time_ps, std::int64_t length_ps) {
  return (Time::picoseconds(time_ps) + Time::picoseconds(length_ps)).count_ps();
}

std::uint32_t speed_at(const std::vector<SpeedStep>& steps, std::uint32_t taken) {
  std::uint32_t speed = SpeedStep::full_speed;
  for (const SpeedStep& step : steps) {
    if (step.taken > taken) break;
    speed = step.speed;
  }
  return speed;
}

/// The longest kernel whose work fits 63 bits: about 140 s.
constexpr std::int64_t longest_kernel_ps = INT64_MAX / SpeedStep::full_speed;

}  // namespace

StreamProgram::StreamProgram(const Program& program, const CompiledProgram& compiled)
    : code(&compiled), of_stream(compiled.stream_count) {
  std::int64_t host = 0;
  for (std::uint32_t i = 0; i < compiled.instructions.size(); ++i) {
    const Instruction& from = compiled.instructions[i];
    host = later_by(host, from.host_time);
    StreamInstruction to;
    to.kind = from.kind;
    to.number = from.second;
    to.op = from.op;
    to.position = i;
    to.syncs_before = static_cast<std::uint32_t>(syncs.size());
    to.host_offset = host;
    to.duration = from.duration;
    switch (from.kind) {
      case Instruction::Kind::sync_record:
      case Instruction::Kind::sync_stream:
      case Instruction::Kind::finish:
        syncs.push_back({to, from.stream});
        host = 0;
        continue;
      case Instruction::Kind::meet:
        to.slot = from.first;
        to.index = compiled.meetings[from.second].index;
        stream_of_meeting.push_back(from.stream);
        break;
      case Instruction::Kind::kernel:
        to.kernel = program.ops[from.op].target;
        break;
      case Instruction::Kind::record:
      case Instruction::Kind::wait:
        break;
    }
    of_stream[from.stream].push_back(to);
  }
}

RankEngine::RankEngine(const Job& job, const Program& program, const StreamProgram& code, Rank rank,
                       std::uint32_t participant, Environment& environment)
    : job_(&job),
      program_(&program),
      code_(&code),
      pace_(job, rank),
      participant_(participant),
      environment_(&environment),
      streams_(code.of_stream.size()),
      next_(code.of_stream.size(), never),
      earliest_change_(code.of_stream.size(), never),
      slots_(program.slots.size()),
      records_(code.code->record_count, unknown),
      host_base_{0} {
  look_at_all();
}

std::int64_t RankEngine::next_time() const {
  std::int64_t next = never;
  for (const std::int64_t time : next_) next = std::min(next, time);
  return next;
}

bool RankEngine::may_happen(std::int64_t time, std::int64_t present) const {
  return time != never && (unknown_ends_ == 0 || time <= present || time <= horizon(present));
}

bool RankEngine::can_run(std::int64_t present) const { return may_happen(next_time(), present); }

void RankEngine::run(std::int64_t present) {
  while (true) {
    const std::int64_t now = next_time();
    if (!may_happen(now, present)) return;
    for (std::size_t s = 0; s < next_.size(); ++s) {
      if (next_[s] == now) happen(s);
    }
    if (changed_) look_at_all();
  }
}

/// The earliest moment at which a meeting whose end is not known can change what kernels are left.
std::int64_t RankEngine::horizon(std::int64_t present) const {
  std::int64_t earliest = never;
  for (const std::int64_t change : earliest_change_) {
    earliest = std::min(earliest, change < 0 ? later_by(present, -1 - change) : change);
  }
  return earliest;
}

const StreamInstruction* RankEngine::next_instruction(std::size_t stream) const {
  const auto& instructions = code_->of_stream[stream];
  const std::uint32_t cursor = streams_[stream].cursor;
  return cursor == instructions.size() ? nullptr : &instructions[cursor];
}

/// When the host has issued an instruction; `never` while a host sync before it is not passed.
std::int64_t RankEngine::issued(const StreamInstruction& instruction) const {
  if (instruction.syncs_before >= host_base_.size()) return never;
  return later_by(host_base_[instruction.syncs_before], instruction.host_offset);
}

/// The stream's next moment has come.
void RankEngine::happen(std::size_t index) {
  StreamState& stream = streams_[index];
  const std::int64_t now = next_[index];
  switch (stream.phase) {
    case Phase::idle:
      return begin(index, now);
    case Phase::kernel:
      return end_kernel(index);
    case Phase::waiting:
      throw InternalError("a moment of a meeting that has not started");
    case Phase::latency:
      stream.phase = Phase::transfer;
      next_[index] = stream.meeting_end;
      if (stream.residency.memory_thousandths > 0) {
        memory_taken_ += stream.residency.memory_thousandths;
        change_speeds(now);
      }
      return;
    case Phase::transfer:
      return end_meeting(index);
  }
}

void RankEngine::begin(std::size_t index, std::int64_t now) {
  const StreamInstruction& instruction = *next_instruction(index);
  if (instruction.kind == Instruction::Kind::kernel) {
    begin_kernel(index, instruction, now);
  } else {
    begin_meeting(index, instruction, now);
  }
}

void RankEngine::begin_kernel(std::size_t index, const StreamInstruction& instruction,
                              std::int64_t now) {
  const Time time = pace_.of(Time::picoseconds(instruction.duration), instruction.op);
  if (time.count_ps() > longest_kernel_ps) {
    throw RangeError("a kernel that shares its device takes more than 140 s");
  }
  StreamState& stream = streams_[index];
  stream.phase = Phase::kernel;
  stream.rest = time.count_ps() * SpeedStep::full_speed;
  stream.since = now;
  stream.speed = speed_of(instruction);
  next_[index] = later_by(now, (stream.rest + stream.speed - 1) / stream.speed);
  if (!watched_.empty()) watched_[instruction.op].start_ps = now;
}

void RankEngine::begin_meeting(std::size_t index, const StreamInstruction& instruction,
                               std::int64_t now) {
  StreamState& stream = streams_[index];
  stream.phase = Phase::waiting;
  next_[index] = never;
  stream.meeting_end = never;
  stream.residency = environment_->residency(participant_, instruction.number);
  ++unknown_ends_;
  const bool begins_unnoticed = stream.residency.memory_thousandths == 0;
  earliest_change_[index] = -1 - later_by(stream.residency.latency_ps,
                                          begins_unnoticed ? stream.residency.transfer_ps : 0);
  if (stream.residency.sms > 0) {
    sms_taken_ += stream.residency.sms;
    change_speeds(now);
  }
  environment_->arrive(participant_, instruction.number, now);
}

void RankEngine::set_start(std::uint32_t meeting, std::int64_t start_ps) {
  const std::size_t index = code_->stream_of_meeting[meeting];
  StreamState& stream = streams_[index];
  stream.phase = Phase::latency;
  next_[index] = later_by(start_ps, stream.residency.latency_ps);
  earliest_change_[index] = later_by(next_[index], stream.residency.transfer_ps);
  // A transfer that takes no memory bandwidth begins unnoticed; the engine may be past that.
  if (stream.residency.memory_thousandths == 0) {
    stream.phase = Phase::transfer;
    next_[index] = never;
  }
}

void RankEngine::set_end(std::uint32_t meeting, std::int64_t end_ps) {
  const std::size_t index = code_->stream_of_meeting[meeting];
  streams_[index].meeting_end = end_ps;
  earliest_change_[index] = never;
  if (streams_[index].phase == Phase::transfer) next_[index] = end_ps;
  --unknown_ends_;
}

void RankEngine::end_kernel(std::size_t index) {
  StreamState& stream = streams_[index];
  const std::int64_t now = next_[index];
  stream.reached = now;
  if (!watched_.empty()) watched_[next_instruction(index)->op].end_ps = now;
  stream.phase = Phase::idle;
  ++stream.cursor;
  look_at(index);
  if (next_[index] == now) return begin(index, now);
  if (next_[index] == never) changed_ = true;  // the host may wait for what has ended
}

void RankEngine::end_meeting(std::size_t index) {
  StreamState& stream = streams_[index];
  const std::int64_t now = next_[index];
  sms_taken_ -= stream.residency.sms;
  memory_taken_ -= stream.residency.memory_thousandths;
  if (stream.residency.sms > 0 || stream.residency.memory_thousandths > 0) change_speeds(now);
  SlotState& slot = slots_[next_instruction(index)->slot];
  ++slot.ended;
  slot.free_at = now;
  stream.reached = now;
  stream.phase = Phase::idle;
  ++stream.cursor;
  changed_ = true;
  look_at(index);
}

/// Passes the records and waits that an idle stream can pass, and finds out when its next op
/// begins.
void RankEngine::look_at(std::size_t index) {
  StreamState& stream = streams_[index];
  next_[index] = never;
  while (const StreamInstruction* instruction = next_instruction(index)) {
    const std::int64_t issue = issued(*instruction);
    if (issue == never) return;
    if (instruction->kind == Instruction::Kind::kernel) {
      next_[index] = std::max(stream.reached, issue);
      return;
    }
    if (instruction->kind == Instruction::Kind::meet) {
      const SlotState& slot = slots_[instruction->slot];
      if (slot.ended != instruction->index) return;
      next_[index] = std::max({stream.reached, issue, slot.free_at});
      return;
    }
    if (!pass_instant(stream, *instruction)) return;
    ++stream.cursor;
  }
}

bool RankEngine::pass_instant(StreamState& stream, const StreamInstruction& instruction) {
  std::int64_t& record = records_[instruction.number];
  if (instruction.kind == Instruction::Kind::record) {
    record = stream.reached;
    changed_ = true;
    return true;
  }
  if (record == unknown) return false;
  stream.reached = std::max(stream.reached, record);
  return true;
}

/// Looks again at everything that may have waited for what was passed, until nothing more follows.
void RankEngine::look_at_all() {
  while (changed_) {
    changed_ = false;
    for (std::size_t s = 0; s < streams_.size(); ++s) {
      const bool stopped = streams_[s].phase == Phase::idle && next_[s] == never;
      const std::uint32_t before = streams_[s].cursor;
      if (!stopped || next_instruction(s) == nullptr) continue;
      look_at(s);
      changed_ = changed_ || streams_[s].cursor != before;
    }
    advance_host();
  }
}

void RankEngine::advance_host() {
  while (!finished_) {
    const StreamProgram::Sync& sync = code_->syncs[host_base_.size() - 1];
    const std::int64_t awaited = awaited_by_host(sync);
    if (awaited == unknown) return;
    const std::int64_t passed = std::max(issued(sync.instruction), awaited);
    if (sync.instruction.kind == Instruction::Kind::finish) {
      finished_ = true;
      end_ = passed;
      return;
    }
    host_base_.push_back(passed);
    changed_ = true;
  }
}

/// When what a host sync waits for is done; unknown while it is not.
std::int64_t RankEngine::awaited_by_host(const StreamProgram::Sync& sync) const {
  const Instruction::Kind kind = sync.instruction.kind;
  if (kind == Instruction::Kind::sync_record) return records_[sync.instruction.number];
  std::int64_t last = 0;
  for (std::size_t s = 0; s < streams_.size(); ++s) {
    if (kind == Instruction::Kind::sync_stream && s != sync.stream) continue;
    const StreamInstruction* next = next_instruction(s);
    if (next != nullptr && next->position < sync.instruction.position) return unknown;
    last = std::max(last, streams_[s].reached);
  }
  return last;
}

std::uint32_t RankEngine::speed_of(const StreamInstruction& instruction) const {
  if (sms_taken_ == 0 && memory_taken_ == 0) return SpeedStep::full_speed;
  const KernelSharing& sharing = job_->kernels[instruction.kernel].sharing;
  const std::uint64_t by_sms = speed_at(sharing.by_sms_taken, sms_taken_);
  const std::uint64_t by_memory = speed_at(sharing.by_memory_taken, memory_taken_);
  return static_cast<std::uint32_t>(
      std::max<std::uint64_t>(1, by_sms * by_memory / SpeedStep::full_speed));
}

/// Books the work done so far by running kernels, and goes on at the speed that now holds.
void RankEngine::change_speeds(std::int64_t now) {
  for (std::size_t s = 0; s < streams_.size(); ++s) {
    StreamState& stream = streams_[s];
    if (stream.phase != Phase::kernel) continue;
    const std::uint32_t speed = speed_of(*next_instruction(s));
    if (speed == stream.speed) continue;
    stream.rest = std::max<std::int64_t>(0, stream.rest - (now - stream.since) * stream.speed);
    stream.since = now;
    stream.speed = speed;
    next_[s] = later_by(now, (stream.rest + speed - 1) / speed);
  }
}

}  // namespace stepsim::sim
