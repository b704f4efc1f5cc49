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

/// The rates of the transfers, in their order; at least 1, even where a link has less to give.
/// `capacity` is by link.
std::vector<std::int64_t> max_min_rates(std::span<const std::int64_t> capacity,
                                        std::span<const MaxMinTransfer> transfers);

}  // namespace stepsim::sim
