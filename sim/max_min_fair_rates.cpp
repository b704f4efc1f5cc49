#include "sim/max_min_fair_rates.hpp"

#include <algorithm>

namespace stepsim::sim {

namespace {

constexpr std::int64_t not_full = -1;

}  // namespace

const std::vector<std::int64_t>& MaxMin::rates(std::span<const MaxMinTransfer> transfers) {
  transfers_ = transfers;
  prepare();
  while (!growing_transfers_.empty()) {
    const std::int64_t own = lowest_own_rate();
    const std::int64_t shared = lowest_level();
    const std::int64_t level = std::max<std::int64_t>(1, std::min(own, shared));
    if (shared <= own) {
      for (const std::uint32_t link : full_) full_at_[link] = level;
    }
    stop_at(level, shared <= own, own <= shared);
  }
  return rates_;
}

bool MaxMin::stopped_by_links(std::size_t transfer, std::vector<LinkId>& links) const {
  links.clear();
  if (rates_[transfer] >= transfers_[transfer].own_rate) return false;
  for (const LinkUse& use : transfers_[transfer].links) {
    if (full_at_[use.link.index()] == rates_[transfer]) links.push_back(use.link);
  }
  return true;
}

void MaxMin::prepare() {
  rates_.assign(transfers_.size(), 0);
  crossed_.clear();
  for (std::uint32_t i = 0; i < transfers_.size(); ++i) {
    growing_transfers_.push_back(i);
    for (const LinkUse& use : transfers_[i].links) {
      if (growing_[use.link.index()] == 0) {
        crossed_.push_back(use.link.value);
        rest_[use.link.index()] = capacity_[use.link.index()];
        full_at_[use.link.index()] = not_full;
      }
      growing_[use.link.index()] += use.times;
    }
  }
  std::sort(crossed_.begin(), crossed_.end());
}

std::int64_t MaxMin::level_of(std::uint32_t link) const {
  return std::max<std::int64_t>(0, rest_[link]) / growing_[link];
}

std::int64_t MaxMin::lowest_own_rate() const {
  std::int64_t lowest = INT64_MAX;
  for (const std::uint32_t i : growing_transfers_)
    lowest = std::min(lowest, transfers_[i].own_rate);
  return lowest;
}

std::int64_t MaxMin::lowest_level() {
  std::erase_if(crossed_, [&](std::uint32_t link) { return growing_[link] == 0; });
  std::int64_t lowest = INT64_MAX;
  full_.clear();
  for (const std::uint32_t link : crossed_) {
    const std::int64_t level = level_of(link);
    if (level < lowest) full_.clear();
    if (level <= lowest) full_.push_back(link);
    lowest = std::min(lowest, level);
  }
  return lowest;
}

bool MaxMin::crosses_full_link(std::uint32_t transfer) const {
  const std::span<const LinkUse> links = transfers_[transfer].links;
  return std::any_of(links.begin(), links.end(), [&](const LinkUse& use) {
    return std::binary_search(full_.begin(), full_.end(), use.link.value);
  });
}

/// Stops the transfers that full links or their own rates stop at the level.
void MaxMin::stop_at(std::int64_t level, bool links_stop, bool own_rates_stop) {
  stopped_.clear();
  std::erase_if(growing_transfers_, [&](std::uint32_t i) {
    const bool stops =
        (own_rates_stop && transfers_[i].own_rate <= level) || (links_stop && crosses_full_link(i));
    if (stops) {
      rates_[i] = level;
      stopped_.push_back(i);
    }
    return stops;
  });
  for (const std::uint32_t i : stopped_) {
    for (const LinkUse& use : transfers_[i].links) {
      rest_[use.link.index()] -= level * use.times;
      growing_[use.link.index()] -= use.times;
    }
  }
}

}  // namespace stepsim::sim
