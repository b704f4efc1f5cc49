#include "sim/memory_curve.hpp"

#include "sim/program_builder.hpp"

#include "sim/base/error.hpp"

#include "tests/support/catch.hpp"

using namespace stepsim;
using namespace stepsim::sim;

namespace {

Bytes of_kind(const MemoryUse& use, BufferKind kind) {
  return use.at_peak[static_cast<std::size_t>(kind)];
}

/// Parameters of 100 bytes all the time; a comes and goes (30), then b (50) and c (1) together.
Program sample() {
  ProgramBuilder p("p");
  p.add_persistent_buffer("parameters", BufferKind::parameters, Bytes(100));
  const BufferId a = p.add_buffer("a", BufferKind::activations, Bytes(30));
  const BufferId b = p.add_buffer("b", BufferKind::logits, Bytes(50));
  const BufferId c = p.add_buffer("c", BufferKind::activations, Bytes(1));
  p.allocate(a);  // 0: 130
  p.free(a);      // 1: 100
  p.allocate(b);  // 2: 150
  p.allocate(c);  // 3: 151, the peak
  p.free(b);      // 4: 101
  p.free(c);      // 5: 100
  return p.finish();
}

}  // namespace

TEST_CASE("the peak is the highest sum, with its moment and an exact breakdown") {
  const MemoryUse use = replay_memory(sample(), Bytes(1));
  CHECK(use.peak_allocated == Bytes(151));
  CHECK(use.peak_op == 3);
  CHECK(of_kind(use, BufferKind::parameters) == Bytes(100));
  CHECK(of_kind(use, BufferKind::logits) == Bytes(50));
  CHECK(of_kind(use, BufferKind::activations) == Bytes(1));
  REQUIRE(use.curve.size() == 6);
  CHECK(use.curve[1].allocated == Bytes(100));
  CHECK(use.curve[3].allocated == Bytes(151));
  CHECK(use.curve[3].op == 3);
}

TEST_CASE("every request is rounded up to the granularity") {
  // 100 -> 128, 50 -> 64, 1 -> 32
  const MemoryUse use = replay_memory(sample(), Bytes(32));
  CHECK(use.peak_allocated == Bytes(128 + 64 + 32));
  Bytes sum;
  for (const Bytes bytes : use.at_peak) sum += bytes;
  CHECK(sum == use.peak_allocated);
  CHECK_THROWS_AS(replay_memory(sample(), Bytes(0)), InternalError);
}

TEST_CASE("a program that allocates nothing peaks at its persistent buffers") {
  ProgramBuilder p("p");
  p.add_persistent_buffer("parameters", BufferKind::parameters, Bytes(100));
  const MemoryUse use = replay_memory(p.finish(), Bytes(1));
  CHECK(use.peak_allocated == Bytes(100));
  CHECK(use.curve.empty());
}
