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

StreamProgram::StreamProgram(const CompiledProgram& compiled)
    : code(&compiled), of_stream(compiled.stream_count) {
  std::int64_t host = 0;
  for (std::uint32_t i = 0; i < compiled.instructions.size(); ++i) {
    const Instruction& instruction = compiled.instructions[i];
    host = later_by(host, instruction.host_time);
    host_offset.push_back(host);
    syncs_before.push_back(static_cast<std::uint32_t>(syncs.size()));
    switch (instruction.kind) {
      case Instruction::Kind::sync_record:
      case Instruction::Kind::sync_stream:
      case Instruction::Kind::finish:
        syncs.push_back(i);
        host = 0;
        break;
      default:
        of_stream[instruction.stream].push_back(i);
    }
  }
}

RankEngine::RankEngine(const Job& job, const Program& program, const StreamProgram& code,
                       std::uint32_t compute_time_millionths, std::uint32_t participant,
                       Environment& environment)
    : job_(&job),
      program_(&program),
      code_(&code),
      compute_time_millionths_(compute_time_millionths),
      participant_(participant),
      environment_(&environment),
      streams_(code.of_stream.size()),
      next_(code.of_stream.size(), never),
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

void RankEngine::run(std::int64_t present) {
  while (true) {
    const std::int64_t now = next_time();
    if (now == never) return;
    if (unknown_ends_ > 0 && now > present && now > horizon(present)) return;
    for (std::size_t s = 0; s < next_.size(); ++s) {
      if (next_[s] == now) happen(s);
    }
    if (changed_) look_at_all();
  }
}

/// The earliest moment at which a meeting whose end is not known can change what kernels are left.
std::int64_t RankEngine::horizon(std::int64_t present) const {
  std::int64_t earliest = never;
  for (const StreamState& stream : streams_) {
    const bool is_waiting = stream.phase == Phase::waiting;
    const bool is_open =
        is_waiting || ((stream.phase == Phase::latency || stream.phase == Phase::transfer) &&
                       stream.meeting_end == never);
    if (!is_open) continue;
    std::int64_t change = stream.earliest_end;
    if (is_waiting) {
      change = later_by(present, stream.residency.latency_ps);
      if (stream.residency.memory_thousandths == 0) {
        change = later_by(change, stream.residency.transfer_ps);
      }
    }
    earliest = std::min(earliest, change);
  }
  return earliest;
}

const Instruction* RankEngine::next_instruction(const StreamState& stream,
                                                std::size_t index) const {
  const auto& instructions = code_->of_stream[index];
  if (stream.cursor == instructions.size()) return nullptr;
  return &code_->code->instructions[instructions[stream.cursor]];
}

/// When the host has issued an instruction; `never` while a host sync before it is not passed.
std::int64_t RankEngine::issued(std::uint32_t instruction) const {
  const std::uint32_t syncs = code_->syncs_before[instruction];
  if (syncs >= host_base_.size()) return never;
  return later_by(host_base_[syncs], code_->host_offset[instruction]);
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
  const Instruction& instruction = *next_instruction(streams_[index], index);
  if (instruction.kind == Instruction::Kind::kernel) {
    begin_kernel(index, instruction, now);
  } else {
    begin_meeting(index, instruction, now);
  }
}

void RankEngine::begin_kernel(std::size_t index, const Instruction& instruction, std::int64_t now) {
  const Time time =
      scaled_kernel_time(Time::picoseconds(instruction.duration), compute_time_millionths_);
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

void RankEngine::begin_meeting(std::size_t index, const Instruction& instruction,
                               std::int64_t now) {
  StreamState& stream = streams_[index];
  stream.phase = Phase::waiting;
  next_[index] = never;
  stream.meeting_end = never;
  stream.residency = environment_->residency(participant_, instruction.second);
  ++unknown_ends_;
  if (stream.residency.sms > 0) {
    sms_taken_ += stream.residency.sms;
    change_speeds(now);
  }
  environment_->arrive(participant_, instruction.second, now);
}

std::size_t RankEngine::stream_of_meeting(std::uint32_t meeting) const {
  return program_->ops[code_->code->meetings[meeting].op].stream.index();
}

void RankEngine::set_start(std::uint32_t meeting, std::int64_t start_ps) {
  const std::size_t index = stream_of_meeting(meeting);
  StreamState& stream = streams_[index];
  stream.phase = Phase::latency;
  next_[index] = later_by(start_ps, stream.residency.latency_ps);
  stream.earliest_end = later_by(next_[index], stream.residency.transfer_ps);
  // A transfer that takes no memory bandwidth begins unnoticed; the engine may be past that.
  if (stream.residency.memory_thousandths == 0) {
    stream.phase = Phase::transfer;
    next_[index] = never;
  }
}

void RankEngine::set_end(std::uint32_t meeting, std::int64_t end_ps) {
  const std::size_t index = stream_of_meeting(meeting);
  streams_[index].meeting_end = end_ps;
  if (streams_[index].phase == Phase::transfer) next_[index] = end_ps;
  --unknown_ends_;
}

void RankEngine::end_kernel(std::size_t index) {
  StreamState& stream = streams_[index];
  const std::int64_t now = next_[index];
  stream.reached = now;
  if (!watched_.empty()) watched_[next_instruction(stream, index)->op].end_ps = now;
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
  SlotState& slot = slots_[next_instruction(stream, index)->first];
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
  while (const Instruction* instruction = next_instruction(stream, index)) {
    const std::int64_t issue = issued(code_->of_stream[index][stream.cursor]);
    if (issue == never) return;
    if (instruction->kind == Instruction::Kind::kernel) {
      next_[index] = std::max(stream.reached, issue);
      return;
    }
    if (instruction->kind == Instruction::Kind::meet) {
      const SlotState& slot = slots_[instruction->first];
      if (slot.ended != code_->code->meetings[instruction->second].index) return;
      next_[index] = std::max({stream.reached, issue, slot.free_at});
      return;
    }
    if (!pass_instant(stream, *instruction)) return;
    ++stream.cursor;
  }
}

bool RankEngine::pass_instant(StreamState& stream, const Instruction& instruction) {
  std::int64_t& record = records_[instruction.second];
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
      if (!stopped || next_instruction(streams_[s], s) == nullptr) continue;
      look_at(s);
      changed_ = changed_ || streams_[s].cursor != before;
    }
    advance_host();
  }
}

void RankEngine::advance_host() {
  while (!finished_) {
    const std::uint32_t sync = code_->syncs[host_base_.size() - 1];
    const std::int64_t awaited = awaited_by_host(sync);
    if (awaited == unknown) return;
    const std::int64_t passed = std::max(issued(sync), awaited);
    if (code_->code->instructions[sync].kind == Instruction::Kind::finish) {
      finished_ = true;
      end_ = passed;
      return;
    }
    host_base_.push_back(passed);
    changed_ = true;
  }
}

/// When what a host sync waits for is done; unknown while it is not.
std::int64_t RankEngine::awaited_by_host(std::uint32_t sync) const {
  const Instruction& instruction = code_->code->instructions[sync];
  if (instruction.kind == Instruction::Kind::sync_record) return records_[instruction.second];
  std::int64_t last = 0;
  for (std::size_t s = 0; s < streams_.size(); ++s) {
    if (instruction.kind == Instruction::Kind::sync_stream && s != instruction.stream) continue;
    const auto& instructions = code_->of_stream[s];
    const std::uint32_t cursor = streams_[s].cursor;
    if (cursor < instructions.size() && instructions[cursor] < sync) return unknown;
    last = std::max(last, streams_[s].reached);
  }
  return last;
}

std::uint32_t RankEngine::speed_of(const Instruction& instruction) const {
  if (sms_taken_ == 0 && memory_taken_ == 0) return SpeedStep::full_speed;
  const std::uint32_t kernel = program_->ops[instruction.op].target;
  const KernelSharing& sharing = job_->kernels[kernel].sharing;
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
    const std::uint32_t speed = speed_of(*next_instruction(stream, s));
    if (speed == stream.speed) continue;
    stream.rest = std::max<std::int64_t>(0, stream.rest - (now - stream.since) * stream.speed);
    stream.since = now;
    stream.speed = speed;
    next_[s] = later_by(now, (stream.rest + speed - 1) / speed);
  }
}

}  // namespace stepsim::sim
