#pragma once

/// Transfers in progress on shared links. Each moves at its max-min fair rate (sim/max_min.hpp),
/// which holds until a transfer begins or ends:
///
///   work done += time × rate,  the transfer ends when its work is done: after ceil(rest / rate)
///
/// with the work of a transfer that takes t picoseconds at its own rate being t × that rate. Work
/// is kept in 128 bits.

#include "sim/max_min.hpp"
#include "sim/population.hpp"

#include "sim/base/wide.hpp"

#include <cstdint>
#include <vector>

namespace stepsim::sim {

class Transfers {
 public:
  static constexpr std::int64_t never = INT64_MAX;

  /// `population` must outlive the object.
  explicit Transfers(const Population& population) : population_(population) {}

  /// A transfer of `duration_ps` at its own rate begins.
  void begin(RendezvousId rendezvous, std::int64_t now_ps, std::int64_t duration_ps,
             std::int64_t own_rate);

  /// When the next transfer ends if none begins before.
  std::int64_t next_end();

  /// Takes out those that end at `now_ps`, which is next_end(), in order of their rendezvous.
  std::vector<RendezvousId> end(std::int64_t now_ps);

 private:
  struct Active {
    RendezvousId rendezvous;
    std::int64_t own_rate = 0;
    std::int64_t rate = 0;
    WideSigned rest = 0;
    std::int64_t since_ps = 0;
    std::int64_t end_ps = never;
  };

  void share();

  const Population& population_;
  std::vector<Active> active_;  // by rendezvous: at most one of each
  std::int64_t now_ps_ = 0;
  bool stale_ = false;  // a transfer has begun or ended since the rates were found
};

}  // namespace stepsim::sim
