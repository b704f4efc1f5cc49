#pragma once

/// A program is what one rank's host thread issues for one training step, in order: ops on streams,
/// event records and waits, host work and syncs, buffer allocations and frees. Ranks that run the
/// same code share one program; what differs between them (which communicator, which peer) is bound
/// by slot in the Job. Programs know no times: a kernel or collective names a row of the Job's cost
/// tables.
///
/// Order. The host issues ops one by one, each taking its host_time. A stream runs its ops first
/// in, first out. `record` marks a point of a stream; `wait` holds back what is issued to a stream
/// after it until the event's latest record (issued before the wait) has been reached. An event
/// waited for before any record has no effect, as in CUDA. `host_sync` stops the host until an
/// event's record or, without an event, all work issued to a stream is done.
///
/// A channel's messages and a communicator's collectives run one at a time, in the order in which
/// the program issues them, whatever their streams.
///
/// Names with a meaning to the time line (sim/attribution.hpp): channels of the group
/// `pipeline_group` wait for pipeline peers; host work in a scope that begins with
/// `data_loader_scope` loads data, in one that begins with `optimizer_scope` it is the optimizer's.
///
/// Memory ops take effect in issue order, as a caching allocator sees them: see
/// sim/memory_curve.hpp.

#include "sim/ids.hpp"

#include "sim/base/units.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace stepsim::sim {

inline constexpr std::string_view pipeline_group = "pipeline";
inline constexpr std::string_view data_loader_scope = "data_loader";
inline constexpr std::string_view optimizer_scope = "optimizer";

enum class OpKind : std::uint8_t {
  kernel,      // target: KernelId; runs on a stream
  collective,  // target: CollectiveId, slot: communicator
  send,        // target: CollectiveId, slot: channel; meets the receive of the same index
  receive,     // target: CollectiveId, slot: channel
  record,      // target: EventId; on a stream
  wait,        // target: EventId; holds the stream
  host_work,   // host only
  host_sync,   // target: EventId, or no_target: the whole stream
  allocate,    // target: BufferId
  free,        // target: BufferId
};
/// «kernel», «collective», …
const char* to_string(OpKind kind);

/// Whether ops of the kind run on a stream (records and waits included).
bool is_stream_op(OpKind kind);
/// Whether ops of the kind meet other ranks: collectives, sends and receives.
bool is_coupling_op(OpKind kind);

/// What a stream's work counts as in the time line. Copy streams carry copies and casts beside the
/// compute stream; they are neither compute nor communication unless they delay a kernel.
enum class StreamKind : std::uint8_t { compute, communication, copy };

struct Stream {
  std::string name;  // such as «default», «all_gather»
  StreamKind kind = StreamKind::compute;
};

/// What a buffer holds; the memory breakdown is by these.
enum class BufferKind : std::uint8_t {
  parameters,
  gradients,
  optimizer_states,
  unsharded_parameters,
  unsharded_gradients,
  activations,
  logits,
  communication,
  workspace,
};
constexpr int buffer_kind_count = 9;
/// «parameters», «unsharded_parameters», …: the keys of the memory breakdown.
const char* to_string(BufferKind kind);

struct Buffer {
  std::string name;
  BufferKind kind = BufferKind::activations;
  Bytes size;
  /// Held from before the step to after it: never allocated or freed by an op.
  bool persistent = false;
};

struct Op {
  static constexpr std::uint32_t no_target = std::numeric_limits<std::uint32_t>::max();

  OpKind kind = OpKind::host_work;
  StreamId stream;
  std::uint32_t target = no_target;
  SlotId slot;
  ScopeId scope;
  Time host_time;  // what issuing this op costs the host thread
};

/// A slot stands for a communicator or for a directed channel to or from one peer.
struct Slot {
  std::string group;  // the parallel group it belongs to: «shard», «replicate», «pipeline», …
  bool is_channel = false;
};

struct Program {
  std::string name;
  std::vector<Stream> streams;
  std::vector<std::string> scopes;  // such as «forward/layers.3»
  std::vector<Slot> slots;
  std::vector<Buffer> buffers;
  std::uint32_t event_count = 0;
  std::vector<Op> ops;
};

}  // namespace stepsim::sim
