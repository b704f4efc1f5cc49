#include "workloads/memory_allocator.hpp"

#include "sim/program_builder.hpp"

#include "tests/support/catch.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace stepsim::workloads {
namespace {

constexpr std::int64_t mib = 1 << 20;
const Bytes no_limit(1LL << 60);

/// A program of allocations and frees on two streams; a kernel after each allocation says whose it
/// is.
class Requests {
 public:
  sim::BufferId take(std::int64_t bytes, int stream = 0) {
    const sim::BufferId buffer =
        builder_.add_buffer("buffer", sim::BufferKind::activations, Bytes(bytes));
    take_again(buffer, stream);
    return buffer;
  }
  void take_again(sim::BufferId buffer, int stream = 0) {
    builder_.allocate(buffer);
    builder_.kernel(stream == 0 ? first_ : second_, {0}, Time::zero());
    held_.push_back(buffer);
  }
  void give(sim::BufferId buffer) {
    builder_.free(buffer);
    held_.erase(std::find(held_.begin(), held_.end(), buffer));
  }
  void persistent(std::int64_t bytes) {
    builder_.add_persistent_buffer("persistent", sim::BufferKind::parameters, Bytes(bytes));
  }
  ReservedMemory reserved(Bytes limit = no_limit) {
    while (!held_.empty()) give(held_.back());
    return reserve_memory(builder_.finish(), limit);
  }

 private:
  sim::ProgramBuilder builder_{"requests"};
  sim::StreamId first_ = builder_.add_stream("default", sim::StreamKind::compute);
  sim::StreamId second_ = builder_.add_stream("other", sim::StreamKind::communication);
  std::vector<sim::BufferId> held_;
};

std::int64_t reserved_for(const std::vector<std::int64_t>& requests) {
  Requests all;
  for (const std::int64_t bytes : requests) all.take(bytes);
  return all.reserved().peak.count();
}

TEST_CASE("segments are 2 MiB for small requests, 20 MiB for middling, their own for large") {
  CHECK(reserved_for({}) == 0);
  CHECK(reserved_for({1}) == 2 * mib);
  CHECK(reserved_for({mib}) == 2 * mib);
  CHECK(reserved_for({mib + 1}) == 20 * mib);
  CHECK(reserved_for({10 * mib - 512}) == 20 * mib);
  CHECK(reserved_for({10 * mib}) == 10 * mib);
  CHECK(reserved_for({10 * mib + 1}) == 12 * mib);
  CHECK(reserved_for({0}) == 2 * mib);
}

TEST_CASE("what a segment has left serves the next requests of its size class") {
  CHECK(reserved_for({512, 512, mib}) == 2 * mib);
  CHECK(reserved_for({mib, mib}) == 2 * mib);
  CHECK(reserved_for({mib, mib, 1}) == 4 * mib);
  CHECK(reserved_for({9 * mib, 9 * mib, 2 * mib}) == 20 * mib);
  CHECK(reserved_for({9 * mib, 9 * mib, 3 * mib}) == 40 * mib);
}

TEST_CASE("a freed block is split when more than 1 MiB would be left over") {
  Requests leaves_two;
  leaves_two.give(leaves_two.take(64 * mib));
  leaves_two.take(62 * mib);
  leaves_two.take(2 * mib);
  CHECK(leaves_two.reserved().peak == Bytes(64 * mib));

  Requests leaves_just_enough;
  leaves_just_enough.give(leaves_just_enough.take(64 * mib));
  leaves_just_enough.take(63 * mib - 512);
  leaves_just_enough.take(mib + 512);
  CHECK(leaves_just_enough.reserved().peak == Bytes(64 * mib));

  Requests leaves_one;
  leaves_one.give(leaves_one.take(64 * mib));
  leaves_one.take(63 * mib);
  leaves_one.take(mib + 1);  // the last MiB went with the block
  CHECK(leaves_one.reserved().peak == Bytes((64 + 20) * mib));
}

TEST_CASE("the smallest free block that is large enough is taken") {
  Requests all;
  const auto large = all.take(100 * mib);
  const auto medium = all.take(60 * mib);
  all.give(large);
  all.give(medium);
  all.take(50 * mib);
  all.take(100 * mib);
  CHECK(all.reserved().peak == Bytes(160 * mib));
}

TEST_CASE("freed neighbours become one block again") {
  Requests all;
  all.give(all.take(90 * mib));
  const auto a = all.take(30 * mib);
  const auto b = all.take(30 * mib);
  const auto c = all.take(30 * mib);
  all.give(a);
  all.give(c);
  all.give(b);
  all.take(90 * mib);
  CHECK(all.reserved().peak == Bytes(90 * mib));
}

TEST_CASE("a block that is not contiguous does not serve a large request: fragmentation") {
  Requests all;
  all.give(all.take(90 * mib));
  const auto a = all.take(30 * mib);
  all.take(30 * mib);
  const auto c = all.take(30 * mib);
  all.give(a);
  all.give(c);
  all.take(60 * mib);  // 60 MiB are free, in two pieces
  CHECK(all.reserved().peak >= Bytes(150 * mib));
}

TEST_CASE("memory freed by one stream does not serve another") {
  Requests all;
  all.give(all.take(64 * mib, 0));
  all.take(64 * mib, 1);
  CHECK(all.reserved().peak == Bytes(128 * mib));
}

TEST_CASE("when the device is full, whole free segments are given back first") {
  Requests fits;
  fits.give(fits.take(64 * mib, 0));
  fits.take(64 * mib, 1);
  const ReservedMemory reserved = fits.reserved(Bytes(100 * mib));
  CHECK_FALSE(reserved.out_of_memory);
  CHECK(reserved.releases > 0);
  CHECK(reserved.peak == Bytes(64 * mib));
}

TEST_CASE("what no release can make room for is out of memory, and says how much it took") {
  Requests all;
  all.persistent(40 * mib);
  all.take(64 * mib);
  const ReservedMemory reserved = all.reserved(Bytes(100 * mib));
  CHECK(reserved.out_of_memory);
  CHECK(reserved.peak == Bytes(104 * mib));
}

TEST_CASE("a device smaller than what lies outside the allocator holds nothing") {
  Requests all;
  all.take(1);
  CHECK(all.reserved(Bytes(-1)).out_of_memory);
}

}  // namespace
}  // namespace stepsim::workloads
