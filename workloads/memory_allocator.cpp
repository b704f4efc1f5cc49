#include "workloads/memory_allocator.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace stepsim::workloads {
namespace {

constexpr std::int64_t kib = 1024;
constexpr std::int64_t mib = 1024 * kib;
constexpr std::int64_t granularity = 512;                // kMinBlockSize
constexpr std::int64_t largest_small = 1 * mib;          // kSmallSize
constexpr std::int64_t small_segment = 2 * mib;          // kSmallBuffer
constexpr std::int64_t medium_segment = 20 * mib;        // kLargeBuffer
constexpr std::int64_t smallest_own_segment = 10 * mib;  // kMinLargeAlloc
constexpr std::int64_t segment_granularity = 2 * mib;    // kRoundLarge

std::int64_t round_up(std::int64_t size, std::int64_t multiple) {
  return (size + multiple - 1) / multiple * multiple;
}

std::int64_t segment_size(std::int64_t request) {
  if (request <= largest_small) return small_segment;
  if (request < smallest_own_segment) return medium_segment;
  return round_up(request, segment_granularity);
}

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
using Pool = std::pair<bool, std::uint32_t>;  // of small requests?, stream

class CachingAllocator {
 public:
  explicit CachingAllocator(Bytes limit) : limit_(limit.count()) {}

  /// A block for a request, or `none` when the device is full.
  std::size_t allocate(std::int64_t size, std::uint32_t stream) {
    const std::int64_t rounded = std::max(granularity, round_up(size, granularity));
    const Pool pool{rounded <= largest_small, stream};
    std::size_t block = take_best_fit(rounded, pool);
    if (block == none) block = add_segment(segment_size(rounded), pool);
    if (block == none) return none;
    split(block, rounded);
    blocks_[block].is_free = false;
    return block;
  }

  void free(std::size_t block) {
    const std::size_t previous = blocks_[block].previous;
    if (previous != none && blocks_[previous].is_free) {
      free_[blocks_[previous].pool].erase(key(previous));
      block = join(previous, block);
    }
    const std::size_t next = blocks_[block].next;
    if (next != none && blocks_[next].is_free) {
      free_[blocks_[next].pool].erase(key(next));
      join(block, next);
    }
    blocks_[block].is_free = true;
    free_[blocks_[block].pool].insert(key(block));
  }

  Bytes peak() const { return Bytes(peak_); }
  std::int64_t releases() const { return releases_; }

 private:
  struct Block {
    std::int64_t size = 0;
    std::size_t previous = none;  // neighbours in the segment
    std::size_t next = none;
    std::int64_t address = 0;
    Pool pool;
    bool is_free = false;
  };
  using Key = std::tuple<std::int64_t, std::int64_t, std::size_t>;  // size, address, block

  Key key(std::size_t block) const { return {blocks_[block].size, blocks_[block].address, block}; }

  std::size_t take_best_fit(std::int64_t size, const Pool& pool) {
    std::set<Key>& free = free_[pool];
    const auto found = free.lower_bound({size, 0, 0});
    if (found == free.end()) return none;
    const std::size_t block = std::get<2>(*found);
    free.erase(found);
    return block;
  }

  std::size_t add_segment(std::int64_t size, const Pool& pool) {
    if (reserved_ + size > limit_) release_cached();
    if (reserved_ + size > limit_) return none;
    reserved_ += size;
    peak_ = std::max(peak_, reserved_);
    Block block;
    block.size = size;
    block.address = next_address_;
    block.pool = pool;
    next_address_ += size;
    return add_block(block);
  }

  void release_cached() {
    ++releases_;
    for (auto& [pool, free] : free_)
      for (auto it = free.begin(); it != free.end();) {
        const std::size_t block = std::get<2>(*it);
        const bool is_whole_segment =
            blocks_[block].previous == none && blocks_[block].next == none;
        if (!is_whole_segment) {
          ++it;
          continue;
        }
        reserved_ -= blocks_[block].size;
        spare_.push_back(block);
        it = free.erase(it);
      }
  }

  std::size_t add_block(const Block& block) {
    if (spare_.empty()) {
      blocks_.push_back(block);
      return blocks_.size() - 1;
    }
    const std::size_t index = spare_.back();
    spare_.pop_back();
    blocks_[index] = block;
    return index;
  }

  void split(std::size_t block, std::int64_t size) {
    const std::int64_t rest = blocks_[block].size - size;
    const bool is_small = blocks_[block].pool.first;
    if (is_small ? rest < granularity : rest <= largest_small) return;
    Block remainder = blocks_[block];
    remainder.size = rest;
    remainder.address += size;
    remainder.previous = block;
    remainder.is_free = true;
    const std::size_t added = add_block(remainder);
    if (remainder.next != none) blocks_[remainder.next].previous = added;
    blocks_[block].next = added;
    blocks_[block].size = size;
    free_[remainder.pool].insert(key(added));
  }

  std::size_t join(std::size_t left, std::size_t right) {
    blocks_[left].size += blocks_[right].size;
    blocks_[left].next = blocks_[right].next;
    if (blocks_[left].next != none) blocks_[blocks_[left].next].previous = left;
    spare_.push_back(right);
    return left;
  }

  std::int64_t limit_;
  std::int64_t reserved_ = 0;
  std::int64_t peak_ = 0;
  std::int64_t releases_ = 0;
  std::int64_t next_address_ = 0;
  std::vector<Block> blocks_;
  std::vector<std::size_t> spare_;
  std::map<Pool, std::set<Key>> free_;
};

struct MemoryRequest {
  bool allocates = false;
  std::uint32_t buffer = 0;
  std::uint32_t stream = 0;
};

/// Memory ops in issue order, each allocation with the stream that uses it first.
std::vector<MemoryRequest> requests_of(const sim::Program& program) {
  std::vector<MemoryRequest> requests;
  std::uint32_t stream = 0;
  for (auto op = program.ops.rbegin(); op != program.ops.rend(); ++op) {
    if (op->kind == sim::OpKind::kernel || op->kind == sim::OpKind::collective)
      stream = op->stream.value;
    if (op->kind == sim::OpKind::allocate || op->kind == sim::OpKind::free)
      requests.push_back({op->kind == sim::OpKind::allocate, op->target, stream});
  }
  std::reverse(requests.begin(), requests.end());
  return requests;
}

bool run(const sim::Program& program, CachingAllocator& allocator) {
  constexpr int steps = 2;
  for (const sim::Buffer& buffer : program.buffers)
    if (buffer.persistent && allocator.allocate(buffer.size.count(), 0) == none) return false;
  const std::vector<MemoryRequest> requests = requests_of(program);
  std::vector<std::size_t> block_of(program.buffers.size(), none);
  for (int step = 0; step < steps; ++step)
    for (const MemoryRequest& request : requests) {
      std::size_t& block = block_of[request.buffer];
      if (!request.allocates) {
        allocator.free(block);
        continue;
      }
      block = allocator.allocate(program.buffers[request.buffer].size.count(), request.stream);
      if (block == none) return false;
    }
  return true;
}

}  // namespace

ReservedMemory reserve_memory(const sim::Program& program, Bytes limit) {
  CachingAllocator limited(limit);
  if (run(program, limited)) return {limited.peak(), limited.releases(), false};
  CachingAllocator unlimited(Bytes(std::numeric_limits<std::int64_t>::max() / 2));
  run(program, unlimited);
  return {unlimited.peak(), limited.releases(), true};
}

}  // namespace stepsim::workloads
