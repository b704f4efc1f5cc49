#pragma once

/// Writes a Program op by op, in the words a training framework's source would use. Names of
/// streams, scopes, slots and buffers are given once; everything else refers to their ids. Host
/// cost and scope are set as a state («from here on, …») so that emitting code reads like the code
/// it describes.

#include "sim/program.hpp"

#include "sim/base/units.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace stepsim::sim {

/// Whether a program's allocations and frees are written down: they are as many as its other ops,
/// and a program of which only times are asked does not need them.
enum class MemoryOps : std::uint8_t { kept, left_out };

class ProgramBuilder {
 public:
  explicit ProgramBuilder(std::string name, MemoryOps memory_ops = MemoryOps::kept);

  StreamId add_stream(std::string name, StreamKind kind);
  SlotId add_communicator_slot(std::string group);
  SlotId add_channel_slot(std::string group);
  EventId add_event();
  BufferId add_buffer(std::string name, BufferKind kind, Bytes size);
  BufferId add_persistent_buffer(std::string name, BufferKind kind, Bytes size);

  /// Ops issued from here on belong to `scope`, such as «backward/layers.3».
  void set_scope(std::string_view scope);

  void kernel(StreamId stream, KernelId kernel, Time host_time);
  void collective(StreamId stream, SlotId communicator, CollectiveId collective, Time host_time);
  void send(StreamId stream, SlotId channel, CollectiveId message, Time host_time);
  void receive(StreamId stream, SlotId channel, CollectiveId message, Time host_time);
  void record(EventId event, StreamId stream);
  void wait(StreamId stream, EventId event);
  /// `waiter` waits for everything issued to `awaited` so far: a record and a wait on a fresh
  /// event.
  void wait_stream(StreamId waiter, StreamId awaited);
  void host_work(Time host_time);
  void host_sync(EventId event);
  void host_sync_stream(StreamId stream);
  void allocate(BufferId buffer);
  void free(BufferId buffer);

  /// Ends building. Throws InternalError when a buffer is freed while not allocated, allocated
  /// twice or left allocated at the end.
  Program finish();

 private:
  void push(OpKind kind, StreamId stream, std::uint32_t target, SlotId slot, Time host_time);
  SlotId add_slot(std::string group, bool is_channel);

  Program program_;
  MemoryOps memory_ops_;
  ScopeId scope_;
  std::map<std::string, ScopeId, std::less<>> scope_ids_;
};

}  // namespace stepsim::sim
