#pragma once

/// Max-min fair rates of transfers that share links, in integers.
///
///   for every link l:      sum over transfers f of times(f, l) × rate(f) ≤ capacity(l)
///   for every transfer f:  rate(f) ≤ its own rate
///
/// All rates grow together (water filling). A transfer stops at its own rate, or when a link that
/// it crosses is full: at the level floor(rest / n), where n counts the crossings of the transfers
/// that still grow there. All links that are full at one level stop their transfers together, so
/// that the result is a function of the multiset of transfers, not of their order.
///
/// Example: capacity 12; two transfers, one crossing twice, one crossing once with an own rate
/// of 3. The level rises to 3 and stops the second; the first goes on to floor((12 − 3) / 2) = 4.

#include "sim/job.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace stepsim::sim {

struct MaxMinTransfer {
  std::int64_t own_rate = 0;
  std::span<const LinkUse> links;
};

/// Finds rates again and again on the same links.
class MaxMin {
 public:
  /// `capacity`, by link, must outlive the object.
  explicit MaxMin(std::span<const std::int64_t> capacity)
      : capacity_(capacity),
        rest_(capacity.size()),
        growing_(capacity.size()),
        full_at_(capacity.size()) {}

  /// The rates of the transfers, in their order; at least 1, even where a link has less to give.
  /// Valid until the next call. Takes time by what the transfers cross, whatever the number of
  /// links.
  const std::vector<std::int64_t>& rates(std::span<const MaxMinTransfer> transfers);

  /// Whether a full link stopped a transfer below its own rate in the last call, and in `links`
  /// which of those that it crosses were full then.
  bool stopped_by_links(std::size_t transfer, std::vector<LinkId>& links) const;

 private:
  void prepare();
  std::int64_t lowest_own_rate() const;
  std::int64_t lowest_level();
  std::int64_t level_of(std::uint32_t link) const;
  bool crosses_full_link(std::uint32_t transfer) const;
  void stop_at(std::int64_t level, bool links_stop, bool own_rates_stop);

  std::span<const std::int64_t> capacity_;
  std::span<const MaxMinTransfer> transfers_;
  std::vector<std::int64_t> rest_;      // capacity not yet taken, by link
  std::vector<std::int64_t> growing_;   // crossings of transfers that still grow, by link
  std::vector<std::uint32_t> crossed_;  // links with growing transfers
  std::vector<std::uint32_t> full_;     // of those, the ones full at the level, sorted
  std::vector<std::uint32_t> growing_transfers_;
  std::vector<std::uint32_t> stopped_;
  std::vector<std::int64_t> rates_;
  std::vector<std::int64_t> full_at_;  // by link: the level at which it was full, or -1
};

}  // namespace stepsim::sim
