#include "sim/max_min.hpp"

#include <algorithm>

namespace stepsim::sim {

namespace {

class WaterFilling {
 public:
  WaterFilling(std::span<const std::int64_t> capacity, std::span<const MaxMinTransfer> transfers)
      : transfers_(transfers),
        rest_(capacity.begin(), capacity.end()),
        growing_(capacity.size()),
        rates_(transfers.size()) {
    for (std::uint32_t i = 0; i < transfers.size(); ++i) {
      growing_transfers_.push_back(i);
      for (const LinkUse& use : transfers[i].links) {
        if (growing_[use.link.index()] == 0) crossed_.push_back(use.link.value);
        growing_[use.link.index()] += use.times;
      }
    }
    std::sort(crossed_.begin(), crossed_.end());
  }

  std::vector<std::int64_t> run() {
    while (!growing_transfers_.empty()) {
      const std::int64_t own = lowest_own_rate();
      const std::int64_t shared = lowest_level();
      const std::int64_t level = std::max<std::int64_t>(1, std::min(own, shared));
      stop_at(level, shared <= own, own <= shared);
    }
    return std::move(rates_);
  }

 private:
  std::int64_t level_of(std::uint32_t link) const {
    return std::max<std::int64_t>(0, rest_[link]) / growing_[link];
  }

  std::int64_t lowest_own_rate() const {
    std::int64_t lowest = INT64_MAX;
    for (const std::uint32_t i : growing_transfers_) {
      lowest = std::min(lowest, transfers_[i].own_rate);
    }
    return lowest;
  }

  std::int64_t lowest_level() {
    std::erase_if(crossed_, [&](std::uint32_t link) { return growing_[link] == 0; });
    std::int64_t lowest = INT64_MAX;
    for (const std::uint32_t link : crossed_) lowest = std::min(lowest, level_of(link));
    full_.clear();
    for (const std::uint32_t link : crossed_) {
      if (level_of(link) == lowest) full_.push_back(link);
    }
    return lowest;
  }

  bool crosses_full_link(std::uint32_t transfer) const {
    const std::span<const LinkUse> links = transfers_[transfer].links;
    return std::any_of(links.begin(), links.end(), [&](const LinkUse& use) {
      return std::binary_search(full_.begin(), full_.end(), use.link.value);
    });
  }

  /// Stops the transfers that full links or their own rates stop at the level.
  void stop_at(std::int64_t level, bool links_stop, bool own_rates_stop) {
    std::vector<std::uint32_t> stopped;
    std::erase_if(growing_transfers_, [&](std::uint32_t i) {
      const bool stops = (links_stop && crosses_full_link(i)) ||
                         (own_rates_stop && transfers_[i].own_rate <= level);
      if (stops) {
        rates_[i] = level;
        stopped.push_back(i);
      }
      return stops;
    });
    for (const std::uint32_t i : stopped) {
      for (const LinkUse& use : transfers_[i].links) {
        rest_[use.link.index()] -= level * use.times;
        growing_[use.link.index()] -= use.times;
      }
    }
  }

  std::span<const MaxMinTransfer> transfers_;
  std::vector<std::int64_t> rest_;      // capacity not yet taken, by link
  std::vector<std::int64_t> growing_;   // crossings of transfers that still grow, by link
  std::vector<std::uint32_t> crossed_;  // links with growing transfers
  std::vector<std::uint32_t> full_;     // of those, the ones full at the level, sorted
  std::vector<std::uint32_t> growing_transfers_;
  std::vector<std::int64_t> rates_;
};

}  // namespace

std::vector<std::int64_t> max_min_rates(std::span<const std::int64_t> capacity,
                                        std::span<const MaxMinTransfer> transfers) {
  return WaterFilling(capacity, transfers).run();
}

}  // namespace stepsim::sim
