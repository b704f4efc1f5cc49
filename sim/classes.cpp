#include "sim/classes.hpp"

#include <algorithm>
#include <utility>

namespace stepsim::sim {

namespace {

using Colour = std::uint32_t;

/// A bijection of 64-bit words that spreads every bit (splitmix64).
std::uint64_t mixed(std::uint64_t word) {
  word += 0x9e3779b97f4a7c15U;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
  return word ^ (word >> 31);
}

std::uint64_t mixed(std::uint64_t first, std::uint64_t second) {
  return mixed(mixed(first) + second);
}

/// Numbers hashes densely in order of first appearance.
class DenseNumbers {
 public:
  explicit DenseNumbers(std::size_t most) {
    std::size_t capacity = 16;
    while (capacity < 2 * most) capacity *= 2;
    keys_.resize(capacity);
    numbers_.assign(capacity, empty);
  }

  Colour of(std::uint64_t hash) {
    std::size_t place = hash & (keys_.size() - 1);
    while (numbers_[place] != empty && keys_[place] != hash)
      place = (place + 1) & (keys_.size() - 1);
    if (numbers_[place] == empty) {
      keys_[place] = hash;
      numbers_[place] = count_++;
    }
    return numbers_[place];
  }

  std::size_t count() const { return count_; }

 private:
  static constexpr Colour empty = UINT32_MAX;
  std::vector<std::uint64_t> keys_;
  std::vector<Colour> numbers_;
  Colour count_ = 0;
};

/// Colours of all ranks, communicators and channels of a job, refined until they are stable. Ranks
/// of one colour are then alike unless two different neighbourhoods share a hash.
class Refinement {
 public:
  Refinement(const Job& job, std::uint64_t salt)
      : job_(job),
        salt_(salt),
        ranks_(job.ranks.size()),
        communicators_(job.communicators.size()),
        channels_(job.channels.size()) {}

  void run() {
    std::size_t count = recolour([&](const RankSetup& rank, Colour) {
      return mixed(rank.program.value, rank.compute_time_millionths);
    });
    for (std::size_t before = 0; count != before;) {
      before = count;
      sum_members();
      count = recolour(
          [&](const RankSetup& rank, Colour colour) { return neighbourhood(rank, colour); });
    }
    sum_members();
  }

  Classes take_classes() {
    Classes classes;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      const Colour colour = ranks_[r];
      classes.of_rank.push_back(ClassId{colour});
      if (colour == classes.representative.size()) {
        classes.representative.push_back(Rank{r});
        classes.size.push_back(0);
      }
      ++classes.size[colour];
    }
    classes.of_communicator = numbered(communicators_);
    classes.of_channel = numbered(channels_);
    return classes;
  }

 private:
  template <class HashOf>
  std::size_t recolour(HashOf hash_of) {
    DenseNumbers numbers(ranks_.size());
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      ranks_[r] = numbers.of(mixed(hash_of(job_.ranks[r], ranks_[r]), salt_));
    }
    return numbers.count();
  }

  /// Gives every communicator and channel a hash of its cost and its members, whatever their order.
  void sum_members() {
    for (std::size_t i = 0; i < communicators_.size(); ++i) {
      communicators_[i] = mixed(salt_, job_.communicators[i].cost_row);
    }
    for (std::size_t i = 0; i < channels_.size(); ++i) {
      channels_[i] = mixed(salt_ + 1, job_.channels[i].cost_row);
    }
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      for_each_binding(job_.ranks[r], [&](std::uint64_t& bound, std::size_t slot) {
        bound += mixed(ranks_[r] + salt_, slot);
      });
    }
  }

  std::uint64_t neighbourhood(const RankSetup& rank, Colour colour) {
    std::uint64_t hash = mixed(colour);
    for_each_binding(rank, [&](std::uint64_t& bound, std::size_t) { hash = mixed(hash, bound); });
    return hash;
  }

  template <class Visit>
  void for_each_binding(const RankSetup& rank, Visit visit) {
    const std::vector<Slot>& slots = job_.programs[rank.program.index()].slots;
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      visit((slots[slot].is_channel ? channels_ : communicators_)[rank.bindings[slot]], slot);
    }
  }

  static std::vector<std::uint32_t> numbered(const std::vector<std::uint64_t>& hashes) {
    DenseNumbers numbers(hashes.size());
    std::vector<std::uint32_t> result;
    result.reserve(hashes.size());
    for (const std::uint64_t hash : hashes) result.push_back(numbers.of(hash));
    return result;
  }

  const Job& job_;
  std::uint64_t salt_;
  std::vector<Colour> ranks_;
  std::vector<std::uint64_t> communicators_;
  std::vector<std::uint64_t> channels_;
};

/// A member as its fellows see it.
using MemberKind = std::pair<ClassId, std::uint32_t>;  // class, slot

/// Compares members, not hashes.
class Verification {
 public:
  Verification(const Job& job, const Classes& classes) : job_(job), classes_(classes) {}

  bool holds() const {
    return ranks_are_alike() && communicators_are_alike() && channels_are_alike();
  }

 private:
  bool ranks_are_alike() const {
    for (std::size_t r = 0; r < job_.ranks.size(); ++r) {
      const RankSetup& rank = job_.ranks[r];
      const RankSetup& first =
          job_.ranks[classes_.representative[classes_.of_rank[r].index()].index()];
      if (rank.program != first.program ||
          rank.compute_time_millionths != first.compute_time_millionths) {
        return false;
      }
      const std::vector<Slot>& slots = job_.programs[rank.program.index()].slots;
      for (std::size_t slot = 0; slot < slots.size(); ++slot) {
        const auto& of = slots[slot].is_channel ? classes_.of_channel : classes_.of_communicator;
        if (of[rank.bindings[slot]] != of[first.bindings[slot]]) return false;
      }
    }
    return true;
  }

  MemberKind kind_of(Rank rank, std::uint32_t bound, bool is_channel) const {
    const RankSetup& setup = job_.ranks[rank.index()];
    const std::vector<Slot>& slots = job_.programs[setup.program.index()].slots;
    std::uint32_t slot = 0;
    while (slots[slot].is_channel != is_channel || setup.bindings[slot] != bound) ++slot;
    return {classes_.of_rank[rank.index()], slot};
  }

  bool communicators_are_alike() const {
    // The kinds of the first communicator of each class, and its cost.
    std::vector<std::pair<std::uint32_t, std::vector<MemberKind>>> first;
    for (std::uint32_t i = 0; i < job_.communicators.size(); ++i) {
      std::vector<MemberKind> kinds;
      kinds.reserve(job_.communicators[i].members.size());
      for (const Rank rank : job_.communicators[i].members)
        kinds.push_back(kind_of(rank, i, false));
      std::sort(kinds.begin(), kinds.end());
      if (classes_.of_communicator[i] == first.size()) {
        first.emplace_back(job_.communicators[i].cost_row, std::move(kinds));
      } else if (first[classes_.of_communicator[i]] !=
                 std::pair(job_.communicators[i].cost_row, std::move(kinds))) {
        return false;
      }
    }
    return true;
  }

  bool channels_are_alike() const {
    using Ends = std::pair<MemberKind, MemberKind>;
    std::vector<std::pair<std::uint32_t, Ends>> first;
    for (std::uint32_t i = 0; i < job_.channels.size(); ++i) {
      const Channel& channel = job_.channels[i];
      const Ends ends{kind_of(channel.sender, i, true), kind_of(channel.receiver, i, true)};
      if (classes_.of_channel[i] == first.size()) {
        first.emplace_back(channel.cost_row, ends);
      } else if (first[classes_.of_channel[i]] != std::pair(channel.cost_row, ends)) {
        return false;
      }
    }
    return true;
  }

  const Job& job_;
  const Classes& classes_;
};

/// Every rank, communicator and channel by itself: always right.
Classes singletons(const Job& job) {
  Classes classes;
  for (std::uint32_t r = 0; r < job.ranks.size(); ++r) {
    classes.of_rank.push_back(ClassId{r});
    classes.representative.push_back(Rank{r});
    classes.size.push_back(1);
  }
  for (std::uint32_t i = 0; i < job.communicators.size(); ++i) classes.of_communicator.push_back(i);
  for (std::uint32_t i = 0; i < job.channels.size(); ++i) classes.of_channel.push_back(i);
  return classes;
}

}  // namespace

Classes find_classes(const Job& job) {
  // A collision of 64-bit hashes is next to impossible; another salt undoes it.
  for (std::uint64_t salt = 0; salt < 3; ++salt) {
    Refinement refinement(job, salt << 32);
    refinement.run();
    Classes classes = refinement.take_classes();
    if (Verification(job, classes).holds()) return classes;
  }
  return singletons(job);
}

}  // namespace stepsim::sim
