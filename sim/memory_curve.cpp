#include "sim/memory_curve.hpp"

#include "sim/base/error.hpp"

namespace stepsim::sim {

namespace {

/// What is allocated now, and the highest it has been.
class Allocations {
 public:
  explicit Allocations(Bytes granularity) : granularity_(granularity.count()) {
    if (granularity_ < 1) throw InternalError("an allocation granularity below one byte");
  }

  void take(const Buffer& buffer) { change(buffer.kind, rounded(buffer.size)); }
  void give_back(const Buffer& buffer) { change(buffer.kind, Bytes(0) - rounded(buffer.size)); }

  Bytes total() const { return total_; }

  /// Keeps the state as the peak when it is higher than any before.
  void mark(std::uint32_t op, MemoryUse& use) const {
    if (total_ <= use.peak_allocated) return;
    use.peak_allocated = total_;
    use.peak_op = op;
    use.at_peak = by_kind_;
  }

 private:
  void change(BufferKind kind, Bytes amount) {
    by_kind_[static_cast<std::size_t>(kind)] += amount;
    total_ += amount;
  }

  Bytes rounded(Bytes size) const {
    if (size < Bytes(0)) throw InternalError("a buffer of negative size");
    const std::int64_t rest = size.count() % granularity_;
    return rest == 0 ? size : size + Bytes(granularity_ - rest);
  }

  std::int64_t granularity_;
  Bytes total_;
  BytesByKind by_kind_{};
};

}  // namespace

MemoryUse replay_memory(const Program& program, Bytes granularity) {
  MemoryUse use;
  Allocations now(granularity);
  for (const Buffer& buffer : program.buffers) {
    if (buffer.persistent) now.take(buffer);
  }
  now.mark(0, use);
  for (std::uint32_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    if (op.kind == OpKind::allocate) {
      now.take(program.buffers.at(op.target));
    } else if (op.kind == OpKind::free) {
      now.give_back(program.buffers.at(op.target));
    } else {
      continue;
    }
    now.mark(i, use);
    use.curve.push_back({i, now.total()});
  }
  return use;
}

}  // namespace stepsim::sim
