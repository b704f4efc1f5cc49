#pragma once

/// One rank in time order, for jobs in which what runs at the same time matters. The engine does
/// what the host, the streams and the rank's own device do; when the rank arrives at a collective
/// or message it tells its environment, which answers when the transfer begins and ends, at once or
/// later.
///
/// Resident on the device is every collective or message from the rank's arrival to its end. It
/// holds SMs all that time and memory bandwidth while it transfers. A kernel's speed is that of its
/// tables at the sums of what is held, constant between changes:
///
///   work done += time × speed,  the kernel ends when its work is done: after ceil(rest / speed)
///
/// with the work of a kernel of t picoseconds being t × SpeedStep::full_speed.

#include "sim/compiled_program.hpp"
#include "sim/job.hpp"
#include "sim/kernel_pace.hpp"

#include <cstdint>
#include <vector>

namespace stepsim::sim {

/// An instruction as the engine runs it, with all that it needs of its program in one place.
struct StreamInstruction {
  Instruction::Kind kind = Instruction::Kind::kernel;
  std::uint32_t slot = 0;      // of a meeting
  std::uint32_t number = 0;    // a meeting of the program, or a record
  std::uint32_t index = 0;     // of a meeting: its place among those of its slot
  std::uint32_t op = 0;        // of the program
  std::uint32_t position = 0;  // among all instructions of the program
  std::uint32_t syncs_before = 0;
  std::uint32_t kernel = 0;      // KernelId
  std::int64_t host_offset = 0;  // host time since the host sync before it, or the beginning
  std::int64_t duration = 0;     // of a kernel
};

/// A compiled program, arranged for running its streams independently of each other.
struct StreamProgram {
  const CompiledProgram* code = nullptr;
  std::vector<std::vector<StreamInstruction>> of_stream;  // in order
  /// What the host waits for: its syncs, and at last `finish`. The stream is that of a sync_stream.
  struct Sync {
    StreamInstruction instruction;
    std::uint32_t stream = 0;
  };
  std::vector<Sync> syncs;
  std::vector<std::uint32_t> stream_of_meeting;

  StreamProgram(const Program& program, const CompiledProgram& compiled);
};

/// What a rank's collective or message takes while it is resident.
struct Residency {
  std::uint32_t sms = 0;
  std::uint32_t memory_thousandths = 0;
  std::int64_t latency_ps = 0;
  std::int64_t transfer_ps = 0;  // at the least
};

class RankEngine {
 public:
  static constexpr std::int64_t never = INT64_MAX;

  /// What the engine needs to know of the world outside its rank.
  class Environment {
   public:
    virtual ~Environment() = default;
    /// What the rank's meeting takes of its device.
    virtual Residency residency(std::uint32_t participant, std::uint32_t meeting) = 0;
    /// The rank arrives at a meeting. set_start and set_end may be called from within.
    virtual void arrive(std::uint32_t participant, std::uint32_t meeting, std::int64_t time_ps) = 0;
  };

  /// When a kernel ran, if the run is watched.
  struct KernelTimes {
    std::int64_t start_ps = 0;
    std::int64_t end_ps = 0;
  };

  RankEngine(const Job& job, const Program& program, const StreamProgram& code, Rank rank,
             std::uint32_t participant, Environment& environment);

  /// Keeps the times of every kernel, by op.
  void watch() { watched_.resize(program_->ops.size()); }
  const std::vector<KernelTimes>& watched() const { return watched_; }

  /// The next moment at which something happens, as far as is known.
  std::int64_t next_time() const;
  /// Whether run() would do anything.
  bool can_run(std::int64_t present) const;
  /// Does what happens up to `present`, when all that happens anywhere before it is known, and
  /// beyond as far as no meeting that is still to start or to end can change anything: such a
  /// meeting starts at `present` at the earliest and takes its latency and transfer at the least.
  void run(std::int64_t present);

  void set_start(std::uint32_t meeting, std::int64_t start_ps);
  void set_end(std::uint32_t meeting, std::int64_t end_ps);

  bool finished() const { return finished_; }
  std::int64_t end_ps() const { return end_; }

 private:
  enum class Phase : std::uint8_t {
    idle,  // `next` is when the stream's next op begins, if that is known
    kernel,
    waiting,  // for members
    latency,
    transfer,
  };

  struct StreamState {
    std::uint32_t cursor = 0;  // into StreamProgram::of_stream
    Phase phase = Phase::idle;
    std::int64_t reached = 0;  // the end of what has run, or of what was waited for
    std::int64_t rest = 0;     // of a kernel's work
    std::int64_t since = 0;    // when `rest` was true
    std::uint32_t speed = SpeedStep::full_speed;
    std::int64_t meeting_end = never;
    Residency residency;
  };

  struct SlotState {
    std::uint32_t ended = 0;  // meetings over
    std::int64_t free_at = 0;
  };

  static constexpr std::int64_t unknown = -1;

  const StreamInstruction* next_instruction(std::size_t stream) const;
  std::int64_t issued(const StreamInstruction& instruction) const;
  void happen(std::size_t stream);
  void begin(std::size_t index, std::int64_t now);
  void begin_kernel(std::size_t index, const StreamInstruction& instruction, std::int64_t now);
  void begin_meeting(std::size_t index, const StreamInstruction& instruction, std::int64_t now);
  void end_kernel(std::size_t index);
  void end_meeting(std::size_t index);
  void look_at(std::size_t stream);
  void look_at_all();
  bool pass_instant(StreamState& stream, const StreamInstruction& instruction);
  void advance_host();
  std::int64_t awaited_by_host(const StreamProgram::Sync& sync) const;
  std::uint32_t speed_of(const StreamInstruction& instruction) const;
  void change_speeds(std::int64_t now);
  bool may_happen(std::int64_t time, std::int64_t present) const;
  std::int64_t horizon(std::int64_t present) const;

  const Job* job_;
  const Program* program_;
  const StreamProgram* code_;
  KernelPace pace_;
  std::uint32_t participant_;
  Environment* environment_;
  std::vector<StreamState> streams_;
  std::vector<std::int64_t> next_;  // of each stream: when something happens there, where known
  /// Of each stream in a meeting whose end is not known, when that can change what kernels are left
  /// at the earliest: a moment, or −1 − (how long after the start of a meeting that is to start).
  std::vector<std::int64_t> earliest_change_;
  std::vector<SlotState> slots_;
  std::vector<std::int64_t> records_;
  std::vector<std::int64_t> host_base_;  // when the host went on after each sync passed so far
  std::uint32_t sms_taken_ = 0;
  std::uint32_t memory_taken_ = 0;
  std::uint32_t unknown_ends_ = 0;
  bool finished_ = false;
  bool changed_ = true;  // something was passed that others may have waited for
  std::int64_t end_ = 0;
  std::vector<KernelTimes> watched_;
};

}  // namespace stepsim::sim
