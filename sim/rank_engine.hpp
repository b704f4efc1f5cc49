#pragma once

/// One rank in time order, for jobs in which what runs at the same time matters. The engine does
/// what the host, the streams and the rank's own device do; when the rank arrives at a collective
/// or message it tells its environment, which answers when that starts and ends, at once or later.
///
/// Resident on the device is every collective or message from the rank's arrival to its end. It
/// holds SMs all that time and memory bandwidth while it transfers. A kernel's speed is that of its
/// tables at the sums of what is held, constant between changes:
///
///   work done += time × speed,  the kernel ends when its work is done: after ceil(rest / speed)
///
/// with the work of a kernel of t picoseconds being t × SpeedStep::full_speed.

#include "sim/job.hpp"
#include "sim/kernel_pace.hpp"
#include "sim/kernel_speeds.hpp"
#include "sim/stream_program.hpp"

#include <cstdint>
#include <vector>

namespace stepsim::sim {

class RankEngine {
 public:
  static constexpr std::int64_t never = INT64_MAX;

  /// What the engine needs to know of the world outside its rank. Meetings are named by their
  /// number in the rank's program.
  class Environment {
   public:
    virtual ~Environment() = default;
    /// The rank arrives at a meeting. The environment answers by await(), from within; by
    /// set_start and set_end, which may follow from within too.
    virtual void arrive(std::uint32_t participant, std::uint32_t meeting, std::int64_t time_ps) = 0;
    /// The earliest moment at which a meeting that the rank has arrived at can end, as far as is
    /// known.
    virtual std::int64_t earliest_end(std::uint32_t participant, std::uint32_t meeting) = 0;
  };

  /// When a kernel ran, if the run is watched.
  struct KernelTimes {
    std::int64_t start_ps = 0;
    std::int64_t end_ps = 0;
  };

  /// All must outlive the engine. `participant` is what it calls itself to its environment.
  RankEngine(const StreamProgram& code, KernelSpeeds& speeds, const KernelPace& pace,
             std::uint32_t participant, Environment& environment);

  /// Keeps the times of every kernel, by op of the program.
  void watch(std::size_t op_count) { watched_.resize(op_count); }
  const std::vector<KernelTimes>& watched() const { return watched_; }

  /// The next moment at which something happens, as far as is known.
  std::int64_t next_time() const;
  /// Whether run() would do anything, now that all that happens before `present` is known.
  bool can_run(std::int64_t present);
  /// Does what happens up to `present`, when all that happens anywhere before it is known, and
  /// beyond as far as no meeting whose end is open can change anything.
  void run(std::int64_t present);

  /// The meeting that the rank has just arrived at, on that stream, becomes resident on its device.
  void await(std::uint32_t stream, const CollectiveCost& cost);
  /// A meeting that the rank has arrived at starts; its end becomes known; or both at once.
  void set_start(std::uint32_t stream, std::int64_t start_ps);
  void set_end(std::uint32_t stream, std::int64_t end_ps);
  void set_times(std::uint32_t stream, std::int64_t start_ps, std::int64_t end_ps);

  /// The earliest moment at which the rank can arrive at a meeting, when all that happens before
  /// `present` is known: what it has to run before takes its time alone at the least.
  std::int64_t earliest_arrival(std::uint32_t meeting, std::int64_t present) const;

  bool finished() const { return finished_; }
  std::int64_t end_ps() const { return end_; }

 private:
  enum class Phase : std::uint8_t {
    blocked,  // by another stream or the host, or nothing is left
    ready,    // the next op begins at its `next_`
    kernel,
    waiting,  // for members
    latency,
    transfer,
  };

  static constexpr std::uint16_t nobody = UINT16_MAX;

  /// A stream; one more than there are stands for the host, of which only the lists of who waits
  /// are used.
  struct StreamState {
    std::int64_t reached = 0;              // the end of what has run, or of what was waited for
    std::int64_t rest = 0;                 // of a kernel's work; of a meeting: its end, or `never`
    std::int64_t since = 0;                // when `rest` was true
    const CollectiveCost* cost = nullptr;  // of the meeting
    std::uint32_t cursor = 0;              // ops finished
    std::uint32_t speed = SpeedStep::full_speed;
    std::uint32_t wake_at = UINT32_MAX;   // so many ops finished are waited for
    std::uint16_t first_waiter = nobody;  // who waits for ops of this stream
    std::uint16_t next_waiter = nobody;   // another that waits for what this stream waits for
    std::uint16_t blocked_by = nobody;
    Phase phase = Phase::blocked;
  };

  std::size_t stream_count() const { return next_.size(); }
  std::int64_t safe_until() const {
    return open_meetings_ == 0 ? never : present_ < horizon_ ? horizon_ : present_;
  }
  std::int64_t issued(const StreamOp& op) const {
    return host_base_[op.syncs_before] + op.host_offset;
  }
  void happen(std::size_t stream, std::int64_t until);
  void run_kernels(std::size_t stream, std::int64_t until);
  void end_kernel(std::size_t stream, std::int64_t until);
  void begin_meeting(std::size_t stream);
  void end_meeting(std::size_t stream);
  void finish_op(std::size_t stream);
  void wake_waiters(std::size_t stream);
  void look_at(std::size_t stream);
  bool blocks(std::size_t waiter, const StreamWait& wait);
  void advance_host();
  std::int64_t work_of(const StreamOp& op) const;
  std::int64_t time_left(std::int64_t rest, std::uint32_t speed) const;
  void change_speeds();
  void start_meeting(std::size_t stream, std::int64_t start_ps);
  void close_meeting(std::size_t stream, std::int64_t end_ps);
  void find_horizon();
  std::int64_t earliest_finish(const StreamState& state, std::size_t stream) const;

  const StreamProgram* code_;
  KernelSpeeds* speeds_;
  KernelPace pace_;
  Environment* environment_;
  std::uint32_t participant_;
  std::uint32_t sms_taken_ = 0;
  std::uint32_t memory_taken_ = 0;
  std::uint32_t open_meetings_ = 0;  // arrived at, end not known
  std::uint32_t running_kernels_ = 0;
  bool finished_ = false;
  std::int64_t now_ = 0;
  std::int64_t present_ = 0;
  std::int64_t horizon_ = never;  // the earliest of change_
  std::int64_t end_ = 0;
  const std::uint32_t* speed_of_kernel_;
  std::vector<StreamState> streams_;
  std::vector<std::int64_t> next_;  // of each stream: when something happens there, where known
  /// Of each stream in a meeting whose end is open: when that can change what kernels are left at
  /// the earliest.
  std::vector<std::int64_t> change_;
  std::vector<std::int64_t> host_base_;  // when the host went on after each sync passed so far
  std::vector<KernelTimes> watched_;
};

}  // namespace stepsim::sim
