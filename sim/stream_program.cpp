#include "sim/stream_program.hpp"

#include <algorithm>
#include <limits>

namespace stepsim::sim {

namespace {

/// Of every stream, how many ops are known to be finished.
using Finished = std::vector<std::uint32_t>;

void raise(Finished& finished, const Finished& other) {
  for (std::size_t s = 0; s < finished.size(); ++s) finished[s] = std::max(finished[s], other[s]);
}

/// A bound may be too low, never too high: it does not grow past this.
constexpr std::int64_t most_work = std::numeric_limits<std::int64_t>::max() / 4;

class Arrangement {
 public:
  Arrangement(const Program& program, const CompiledProgram& compiled, StreamProgram& result)
      : program_(program),
        compiled_(compiled),
        result_(result),
        streams_(compiled.stream_count),
        records_(compiled.record_count),
        last_of_slot_(program.slots.size()) {
    result_.of_stream.resize(streams_.size());
    result_.work_before.assign(streams_.size(), {0});
    for (StreamState& stream : streams_) {
      stream.known.resize(streams_.size());
      stream.known_by_last.resize(streams_.size());
    }
  }

  void run() {
    for (const Instruction& instruction : compiled_.instructions) add(instruction);
  }

 private:
  struct StreamState {
    std::vector<StreamWait> pending;  // waits of the next op
    Finished known;                   // when the next op begins
    Finished known_by_last;           // when the last op has ended
  };

  /// What has to be finished for a record to be reached.
  struct Record {
    std::vector<StreamWait> waits;
    Finished known;
  };

  void add(const Instruction& instruction) {
    host_offset_ += instruction.host_time;
    switch (instruction.kind) {
      case Instruction::Kind::kernel:
        add_op(instruction).target = program_.ops[instruction.op].target;
        return;
      case Instruction::Kind::meet:
        return add_meeting(instruction);
      case Instruction::Kind::record:
        records_[instruction.second] = reached(instruction.stream);
        return;
      case Instruction::Kind::wait:
        return wait_for(instruction.stream, records_[instruction.second]);
      case Instruction::Kind::sync_record:
        return add_sync(records_[instruction.second].waits);
      case Instruction::Kind::sync_stream:
        return add_sync(reached(instruction.stream).waits);
      case Instruction::Kind::finish:
        return add_finish();
    }
  }

  std::uint32_t count(std::uint32_t stream) const {
    return static_cast<std::uint32_t>(result_.of_stream[stream].size());
  }

  StreamOp& add_op(const Instruction& instruction) {
    const std::uint32_t s = instruction.stream;
    StreamState& stream = streams_[s];
    StreamOp& op = result_.of_stream[s].emplace_back();
    op.host_offset = host_offset_;
    op.duration = instruction.duration;
    op.op = instruction.op;
    op.syncs_before = static_cast<std::uint32_t>(result_.syncs.size());
    op.is_kernel = instruction.kind == Instruction::Kind::kernel;
    add_waits(op, stream.pending);
    stream.pending.clear();
    stream.known[s] = count(s);
    stream.known_by_last = stream.known;
    const std::int64_t before = result_.work_before[s].back();
    result_.work_before[s].push_back(
        std::min(most_work, before + std::min(most_work, op.duration)));
    return op;
  }

  void add_meeting(const Instruction& instruction) {
    const ProgramMeeting& meeting = compiled_.meetings[instruction.second];
    StreamWait& last = last_of_slot_[meeting.slot.index()];
    if (meeting.index > 0) wait_for_one(streams_[instruction.stream], last);
    const StreamWait longest = longest_of(streams_[instruction.stream].known);
    add_op(instruction).target = instruction.second;
    last = {instruction.stream, count(instruction.stream)};
    result_.meetings.push_back({meeting.slot.value, meeting.index, instruction.stream, longest});
  }

  StreamWait longest_of(const Finished& known) const {
    StreamWait longest{0, known.front()};
    for (std::uint32_t s = 1; s < known.size(); ++s) {
      if (result_.work_before[s][known[s]] >
          result_.work_before[longest.stream][longest.finished]) {
        longest = {s, known[s]};
      }
    }
    return longest;
  }

  Record reached(std::uint32_t s) const {
    Record record{streams_[s].pending, streams_[s].known_by_last};
    if (count(s) > 0) record.waits.insert(record.waits.begin(), {s, count(s)});
    return record;
  }

  void wait_for(std::uint32_t s, const Record& record) {
    StreamState& stream = streams_[s];
    bool any = false;
    for (const StreamWait& wait : record.waits) any = wait_for_one(stream, wait) || any;
    if (any) raise(stream.known, record.known);
  }

  /// Returns whether that was not known already.
  static bool wait_for_one(StreamState& stream, const StreamWait& wait) {
    if (stream.known[wait.stream] >= wait.finished) return false;
    std::erase_if(stream.pending,
                  [&](const StreamWait& other) { return other.stream == wait.stream; });
    stream.pending.push_back(wait);
    stream.known[wait.stream] = wait.finished;
    return true;
  }

  template <class Waiting>
  void add_waits(Waiting& waiting, const std::vector<StreamWait>& waits) {
    waiting.first_wait = static_cast<std::uint32_t>(result_.waits.size());
    waiting.wait_count = static_cast<std::uint32_t>(waits.size());
    result_.waits.insert(result_.waits.end(), waits.begin(), waits.end());
  }

  void add_sync(const std::vector<StreamWait>& waits) {
    StreamProgram::Sync& sync = result_.syncs.emplace_back();
    sync.host_offset = host_offset_;
    add_waits(sync, waits);
    host_offset_ = 0;
  }

  void add_finish() {
    std::vector<StreamWait> all;
    for (std::uint32_t s = 0; s < streams_.size(); ++s) {
      if (count(s) > 0) all.push_back({s, count(s)});
    }
    add_sync(all);
  }

  const Program& program_;
  const CompiledProgram& compiled_;
  StreamProgram& result_;
  std::vector<StreamState> streams_;
  std::vector<Record> records_;
  std::vector<StreamWait> last_of_slot_;
  std::int64_t host_offset_ = 0;
};

}  // namespace

StreamProgram::StreamProgram(const Program& program, const CompiledProgram& compiled) {
  Arrangement(program, compiled, *this).run();
}

}  // namespace stepsim::sim
