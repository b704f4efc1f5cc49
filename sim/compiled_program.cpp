#include "sim/compiled_program.hpp"

namespace stepsim::sim {

namespace {

/// Gives each record a register for as long as a wait may read it.
class Registers {
 public:
  /// Records nobody waits for get no register.
  explicit Registers(const Program& program)
      : awaited_(awaited_records(program)), last_reader_(program.ops.size(), no_record) {
    for (std::uint32_t i = 0; i < awaited_.size(); ++i) {
      if (awaited_[i] != no_record) last_reader_[awaited_[i]] = i;
    }
    register_of_.resize(program.ops.size());
    ordinal_of_.resize(program.ops.size());
  }

  bool is_read(std::uint32_t record) const { return last_reader_[record] != no_record; }
  std::uint32_t awaited_by(std::uint32_t op) const { return awaited_[op]; }

  void take(std::uint32_t record, Instruction& instruction) {
    if (free_.empty()) free_.push_back(register_count_++);
    register_of_[record] = free_.back();
    free_.pop_back();
    ordinal_of_[record] = record_count_++;
    refer(record, instruction);
  }

  void read(std::uint32_t reader, Instruction& instruction) {
    const std::uint32_t record = awaited_[reader];
    refer(record, instruction);
    if (last_reader_[record] == reader) free_.push_back(register_of_[record]);
  }

  std::uint32_t register_count() const { return register_count_; }
  std::uint32_t record_count() const { return record_count_; }

 private:
  void refer(std::uint32_t record, Instruction& instruction) const {
    instruction.first = register_of_[record];
    instruction.second = ordinal_of_[record];
  }

  std::vector<std::uint32_t> awaited_;
  std::vector<std::uint32_t> last_reader_;
  std::vector<std::uint32_t> register_of_;
  std::vector<std::uint32_t> ordinal_of_;
  std::vector<std::uint32_t> free_;
  std::uint32_t register_count_ = 0;
  std::uint32_t record_count_ = 0;
};

class Compiler {
 public:
  Compiler(const Job& job, const Program& program)
      : job_(job), program_(program), registers_(program) {
    compiled_.stream_count = static_cast<std::uint32_t>(program.streams.size());
    compiled_.meetings_of_slot.resize(program.slots.size());
  }

  CompiledProgram run() {
    for (std::uint32_t i = 0; i < program_.ops.size(); ++i) compile_op(i);
    emit(Instruction::Kind::finish, static_cast<std::uint32_t>(program_.ops.size()));
    compiled_.register_count = registers_.register_count();
    compiled_.record_count = registers_.record_count();
    return std::move(compiled_);
  }

 private:
  void compile_op(std::uint32_t index) {
    const Op& op = program_.ops[index];
    host_time_ += op.host_time;
    switch (op.kind) {
      case OpKind::kernel:
        emit(Instruction::Kind::kernel, index).duration = job_.kernels[op.target].time.count_ps();
        return;
      case OpKind::collective:
      case OpKind::send:
      case OpKind::receive:
        return compile_meeting(index);
      case OpKind::record:
        if (registers_.is_read(index))
          registers_.take(index, emit(Instruction::Kind::record, index));
        return;
      case OpKind::wait:
        return compile_wait(index, Instruction::Kind::wait);
      case OpKind::host_sync:
        if (op.target == Op::no_target) {
          emit(Instruction::Kind::sync_stream, index);
        } else {
          compile_wait(index, Instruction::Kind::sync_record);
        }
        return;
      case OpKind::host_work:
      case OpKind::allocate:
      case OpKind::free:
        return;
    }
  }

  void compile_meeting(std::uint32_t index) {
    const Op& op = program_.ops[index];
    auto& on_slot = compiled_.meetings_of_slot[op.slot.index()];
    const auto meeting = static_cast<std::uint32_t>(compiled_.meetings.size());
    compiled_.meetings.push_back({op.slot, static_cast<std::uint32_t>(on_slot.size()), index});
    on_slot.push_back(meeting);
    Instruction& instruction = emit(Instruction::Kind::meet, index);
    instruction.first = op.slot.value;
    instruction.second = meeting;
  }

  void compile_wait(std::uint32_t index, Instruction::Kind kind) {
    if (registers_.awaited_by(index) != no_record) registers_.read(index, emit(kind, index));
  }

  Instruction& emit(Instruction::Kind kind, std::uint32_t op) {
    Instruction& instruction = compiled_.instructions.emplace_back();
    instruction.kind = kind;
    instruction.op = op;
    if (op < program_.ops.size()) instruction.stream = program_.ops[op].stream.value;
    instruction.host_time = host_time_.count_ps();
    host_time_ = Time::zero();
    return instruction;
  }

  const Job& job_;
  const Program& program_;
  Registers registers_;
  CompiledProgram compiled_;
  Time host_time_;  // of ops that became no instruction, and of the one being compiled
};

}  // namespace

std::vector<std::uint32_t> awaited_records(const Program& program) {
  std::vector<std::uint32_t> latest(program.event_count, no_record);
  std::vector<std::uint32_t> awaited(program.ops.size(), no_record);
  for (std::uint32_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    if (op.target == Op::no_target) continue;
    if (op.kind == OpKind::record) latest[op.target] = i;
    if (op.kind == OpKind::wait || op.kind == OpKind::host_sync) awaited[i] = latest[op.target];
  }
  return awaited;
}

CompiledProgram compile(const Job& job, const Program& program) {
  return Compiler(job, program).run();
}

}  // namespace stepsim::sim
