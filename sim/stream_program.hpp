#pragma once

/// A compiled program, arranged for running its streams in time order. Records and waits are gone:
/// an op begins when its stream has finished the op before it, the host has issued it, and other
/// streams have finished as many ops as it waits for. That says all that events say, since whoever
/// goes in time order learns of an op's end when it ends. Collectives and messages of one slot that
/// are issued to different streams wait for each other in the same way.

#include "sim/compiled_program.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace stepsim::sim {

/// A kernel, collective or message.
struct StreamOp {
  std::int64_t host_offset = 0;  // host time since the host sync before it, or the beginning
  std::int64_t duration = 0;     // of a kernel, picoseconds alone
  std::uint32_t op = 0;          // of the program
  std::uint32_t target = 0;      // KernelId, or a meeting of the program
  std::uint32_t syncs_before = 0;
  std::uint32_t first_wait = 0;  // in StreamProgram::waits
  std::uint32_t wait_count = 0;
  bool is_kernel = false;
};

/// That a stream has finished so many of its ops.
struct StreamWait {
  std::uint32_t stream = 0;
  std::uint32_t finished = 0;
};

struct StreamProgram {
  StreamProgram(const Program& program, const CompiledProgram& compiled);

  std::vector<std::vector<StreamOp>> of_stream;
  std::vector<StreamWait> waits;

  /// What the host waits for, in order; the last one is the end of the program.
  struct Sync {
    std::int64_t host_offset = 0;  // as of a StreamOp
    std::uint32_t first_wait = 0;
    std::uint32_t wait_count = 0;
  };
  std::vector<Sync> syncs;

  /// Where a meeting is, and the stream whose ops before it take longest, as far as the meeting
  /// waits for them: its arrival is at least their time away.
  struct MeetingPlace {
    std::uint32_t slot = 0;
    std::uint32_t index = 0;  // among those of its slot
    std::uint32_t stream = 0;
    StreamWait longest;
  };
  std::vector<MeetingPlace> meetings;
  /// For each stream, the time of its first n kernels alone, by n ops.
  std::vector<std::vector<std::int64_t>> work_before;

  template <class Waiting>
  std::span<const StreamWait> waits_of(const Waiting& waiting) const {
    return {waits.data() + waiting.first_wait, waiting.wait_count};
  }
};

}  // namespace stepsim::sim
