#include "sim/rank_classes.hpp"

#include <algorithm>
#include <array>
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
        channels_(job.channels.size()),
        links_(job.links.size()) {}

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
    classes.of_link = numbered(links_);
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
    if (!links_.empty()) mix_in_links();
  }

  /// Gives every link a hash of its capacity and of who crosses it, and mixes it into theirs.
  void mix_in_links() {
    for (std::size_t i = 0; i < links_.size(); ++i) {
      links_[i] = mixed(salt_ + 2, static_cast<std::uint64_t>(job_.links[i].capacity));
    }
    for_each_link_use([&](std::uint64_t& place, const LinkUse& use) {
      links_[use.link.index()] += mixed(place, use.times);
    });
    const std::vector<std::uint64_t> crossed = links_;
    for_each_link_use([&](std::uint64_t& place, const LinkUse& use) {
      place += mixed(~crossed[use.link.index()], use.times);
    });
  }

  template <class Visit>
  void for_each_link_use(Visit visit) {
    for (std::size_t i = 0; i < communicators_.size(); ++i) {
      for (const LinkUse& use : job_.communicators[i].links) visit(communicators_[i], use);
    }
    for (std::size_t i = 0; i < channels_.size(); ++i) {
      for (const LinkUse& use : job_.channels[i].links) visit(channels_[i], use);
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
  std::vector<std::uint64_t> links_;
};

/// What a communicator or channel is to others: its cost, its members by class and slot, and the
/// links it crosses by class and number of times.
struct PlaceKind {
  std::uint32_t cost_row = 0;
  std::vector<std::pair<ClassId, std::uint32_t>> members;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> links;
  friend bool operator==(const PlaceKind&, const PlaceKind&) = default;
};

/// What a link is to others: its capacity and, of each use, whether by a channel, its class, the
/// times.
struct LinkKind {
  std::int64_t capacity = 0;
  std::vector<std::array<std::uint32_t, 3>> uses;
  friend bool operator==(const LinkKind&, const LinkKind&) = default;
};

/// Whether all things of one class are of one kind. Classes are numbered by first appearance.
template <class KindOf>
bool alike(const std::vector<std::uint32_t>& classes, KindOf kind_of) {
  using Kind = decltype(kind_of(0U));
  std::vector<Kind> first;
  for (std::uint32_t i = 0; i < classes.size(); ++i) {
    Kind kind = kind_of(i);
    if (classes[i] == first.size()) {
      first.push_back(std::move(kind));
    } else if (!(first[classes[i]] == kind)) {
      return false;
    }
  }
  return true;
}

/// Compares members, not hashes.
class Verification {
 public:
  Verification(const Job& job, const Classes& classes) : job_(job), classes_(classes) {}

  bool holds() const {
    return ranks_are_alike() &&
           alike(classes_.of_communicator,
                 [&](std::uint32_t i) {
                   const Communicator& c = job_.communicators[i];
                   return place_kind(c, c.members, i, false, true);
                 }) &&
           alike(classes_.of_channel,
                 [&](std::uint32_t i) {
                   const Channel& c = job_.channels[i];
                   return place_kind(c, {c.sender, c.receiver}, i, true, false);
                 }) &&
           links_are_alike();
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

  template <class Place>
  PlaceKind place_kind(const Place& place, const std::vector<Rank>& members, std::uint32_t bound,
                       bool is_channel, bool any_order) const {
    PlaceKind kind{place.cost_row, {}, {}};
    kind.members.reserve(members.size());
    for (const Rank rank : members) {
      kind.members.emplace_back(classes_.of_rank[rank.index()], slot_of(rank, bound, is_channel));
    }
    if (any_order) std::sort(kind.members.begin(), kind.members.end());
    for (const LinkUse& use : place.links) {
      kind.links.emplace_back(classes_.of_link[use.link.index()], use.times);
    }
    std::sort(kind.links.begin(), kind.links.end());
    return kind;
  }

  std::uint32_t slot_of(Rank rank, std::uint32_t bound, bool is_channel) const {
    const RankSetup& setup = job_.ranks[rank.index()];
    const std::vector<Slot>& slots = job_.programs[setup.program.index()].slots;
    std::uint32_t slot = 0;
    while (slots[slot].is_channel != is_channel || setup.bindings[slot] != bound) ++slot;
    return slot;
  }

  bool links_are_alike() const {
    if (job_.links.empty()) return true;
    std::vector<LinkKind> kinds;
    for (const Link& link : job_.links) kinds.push_back({link.capacity, {}});
    const auto add = [&](const std::vector<LinkUse>& uses, std::uint32_t is_channel,
                         std::uint32_t place_class) {
      for (const LinkUse& use : uses) {
        kinds[use.link.index()].uses.push_back({is_channel, place_class, use.times});
      }
    };
    for (std::size_t i = 0; i < job_.communicators.size(); ++i) {
      add(job_.communicators[i].links, 0, classes_.of_communicator[i]);
    }
    for (std::size_t i = 0; i < job_.channels.size(); ++i) {
      add(job_.channels[i].links, 1, classes_.of_channel[i]);
    }
    for (LinkKind& kind : kinds) std::sort(kind.uses.begin(), kind.uses.end());
    return alike(classes_.of_link, [&](std::uint32_t i) { return kinds[i]; });
  }

  const Job& job_;
  const Classes& classes_;
};

/// Everything by itself: always right.
Classes singletons(const Job& job) {
  Classes classes;
  for (std::uint32_t r = 0; r < job.ranks.size(); ++r) {
    classes.of_rank.push_back(ClassId{r});
    classes.representative.push_back(Rank{r});
    classes.size.push_back(1);
  }
  for (std::uint32_t i = 0; i < job.communicators.size(); ++i) classes.of_communicator.push_back(i);
  for (std::uint32_t i = 0; i < job.channels.size(); ++i) classes.of_channel.push_back(i);
  for (std::uint32_t i = 0; i < job.links.size(); ++i) classes.of_link.push_back(i);
  return classes;
}

}  // namespace

Classes find_classes(const Job& job) {
  if (job.jitter.spread_65536ths > 0) return singletons(job);
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
