#include "sim/program_builder.hpp"

#include "sim/base/error.hpp"

#include <utility>

namespace stepsim::sim {

namespace {

std::uint32_t next_index(std::size_t size) {
  if (size >= Op::no_target) throw InternalError("a program with more than 2^32 of one thing");
  return static_cast<std::uint32_t>(size);
}

void check_buffers(const Program& program) {
  std::vector<bool> held(program.buffers.size(), false);
  const auto complain = [&](std::uint32_t buffer, const char* problem) {
    throw InternalError("program «" + program.name + "»: buffer «" + program.buffers[buffer].name +
                        "» " + problem);
  };
  for (const Op& op : program.ops) {
    if (op.kind != OpKind::allocate && op.kind != OpKind::free) continue;
    if (op.target >= held.size()) {
      throw InternalError("program «" + program.name +
                          "»: an unknown buffer is allocated or freed");
    }
    const bool allocates = op.kind == OpKind::allocate;
    if (program.buffers[op.target].persistent) complain(op.target, "is persistent");
    if (held[op.target] == allocates) {
      complain(op.target, allocates ? "is allocated twice" : "is freed while not allocated");
    }
    held[op.target] = allocates;
  }
  for (std::uint32_t i = 0; i < held.size(); ++i) {
    if (held[i]) complain(i, "is still allocated at the end");
  }
}

}  // namespace

ProgramBuilder::ProgramBuilder(std::string name, MemoryOps memory_ops) : memory_ops_(memory_ops) {
  program_.name = std::move(name);
  set_scope("");
}

StreamId ProgramBuilder::add_stream(std::string name, StreamKind kind) {
  const StreamId id{next_index(program_.streams.size())};
  program_.streams.push_back({std::move(name), kind});
  return id;
}

SlotId ProgramBuilder::add_communicator_slot(std::string group) {
  return add_slot(std::move(group), false);
}

SlotId ProgramBuilder::add_channel_slot(std::string group) {
  return add_slot(std::move(group), true);
}

SlotId ProgramBuilder::add_slot(std::string group, bool is_channel) {
  const SlotId id{next_index(program_.slots.size())};
  program_.slots.push_back({std::move(group), is_channel});
  return id;
}

EventId ProgramBuilder::add_event() { return EventId{program_.event_count++}; }

BufferId ProgramBuilder::add_buffer(std::string name, BufferKind kind, Bytes size) {
  const BufferId id{next_index(program_.buffers.size())};
  program_.buffers.push_back({std::move(name), kind, size, false});
  return id;
}

BufferId ProgramBuilder::add_persistent_buffer(std::string name, BufferKind kind, Bytes size) {
  const BufferId id = add_buffer(std::move(name), kind, size);
  program_.buffers.back().persistent = true;
  return id;
}

void ProgramBuilder::set_scope(std::string_view scope) {
  if (const auto known = scope_ids_.find(scope); known != scope_ids_.end()) {
    scope_ = known->second;
    return;
  }
  scope_ = ScopeId{next_index(program_.scopes.size())};
  program_.scopes.emplace_back(scope);
  scope_ids_.emplace(scope, scope_);
}

void ProgramBuilder::kernel(StreamId stream, KernelId kernel, Time host_time) {
  push(OpKind::kernel, stream, kernel.value, {}, host_time);
}

void ProgramBuilder::collective(StreamId stream, SlotId communicator, CollectiveId collective,
                                Time host_time) {
  push(OpKind::collective, stream, collective.value, communicator, host_time);
}

void ProgramBuilder::send(StreamId stream, SlotId channel, CollectiveId message, Time host_time) {
  push(OpKind::send, stream, message.value, channel, host_time);
}

void ProgramBuilder::receive(StreamId stream, SlotId channel, CollectiveId message,
                             Time host_time) {
  push(OpKind::receive, stream, message.value, channel, host_time);
}

void ProgramBuilder::record(EventId event, StreamId stream) {
  push(OpKind::record, stream, event.value, {}, Time::zero());
}

void ProgramBuilder::wait(StreamId stream, EventId event) {
  push(OpKind::wait, stream, event.value, {}, Time::zero());
}

void ProgramBuilder::wait_stream(StreamId waiter, StreamId awaited) {
  const EventId reached = add_event();
  record(reached, awaited);
  wait(waiter, reached);
}

void ProgramBuilder::host_work(Time host_time) {
  push(OpKind::host_work, {}, Op::no_target, {}, host_time);
}

void ProgramBuilder::host_sync(EventId event) {
  push(OpKind::host_sync, {}, event.value, {}, Time::zero());
}

void ProgramBuilder::host_sync_stream(StreamId stream) {
  push(OpKind::host_sync, stream, Op::no_target, {}, Time::zero());
}

void ProgramBuilder::allocate(BufferId buffer) {
  if (memory_ops_ == MemoryOps::left_out) return;
  push(OpKind::allocate, {}, buffer.value, {}, Time::zero());
}

void ProgramBuilder::free(BufferId buffer) {
  if (memory_ops_ == MemoryOps::left_out) return;
  push(OpKind::free, {}, buffer.value, {}, Time::zero());
}

Program ProgramBuilder::finish() {
  check_buffers(program_);
  return std::move(program_);
}

void ProgramBuilder::push(OpKind kind, StreamId stream, std::uint32_t target, SlotId slot,
                          Time host_time) {
  program_.ops.push_back({kind, stream, target, slot, scope_, host_time});
}

}  // namespace stepsim::sim
