#pragma once

/// A program as the executor runs it: what can be decided without knowing a time is decided here,
/// once for all ranks that share the program.
///
///   - Memory ops and waits that hold nothing back vanish; their host time goes to the next
///     instruction.
///   - Each wait and host sync is bound to the one record it refers to. Record times live in
///     registers that are used again once no wait can read them, so that a rank's state stays small
///     however many events its program has.
///   - The collectives and messages of each slot are numbered: the k-th of one member meets the
///   k-th
///     of every other.

#include "sim/job.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace stepsim::sim {

struct Instruction {
  enum class Kind : std::uint8_t {
    kernel,       // duration
    meet,         // first: slot, second: meeting of the program
    record,       // first: register, second: record
    wait,         // first: register, second: record
    sync_record,  // first: register, second: record
    sync_stream,
    finish,  // waits for every stream
  };

  Kind kind = Kind::finish;
  std::uint32_t stream = 0;
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  std::uint32_t op = 0;        // of the program
  std::int64_t host_time = 0;  // picoseconds
  std::int64_t duration = 0;   // picoseconds
};

/// A collective, send or receive of a program: number `index` of those on its slot.
struct ProgramMeeting {
  SlotId slot;
  std::uint32_t index = 0;
  std::uint32_t op = 0;
};

struct CompiledProgram {
  std::uint32_t stream_count = 0;
  std::uint32_t register_count = 0;
  std::uint32_t record_count = 0;
  std::vector<Instruction> instructions;  // the last one is `finish`
  std::vector<ProgramMeeting> meetings;   // in issue order
  /// For each slot, its meetings in issue order: indices into `meetings`.
  std::vector<std::vector<std::uint32_t>> meetings_of_slot;
};

CompiledProgram compile(const Job& job, const Program& program);

/// For each op of a program that waits for an event, the op that records what it waits for;
/// no_record for other ops and for waits that come before any record of their event.
inline constexpr std::uint32_t no_record = std::numeric_limits<std::uint32_t>::max();
std::vector<std::uint32_t> awaited_records(const Program& program);

}  // namespace stepsim::sim
