#pragma once

/// Transfers in progress on shared links. Each moves at its max-min fair rate
/// (sim/max_min_fair_rates.hpp), which holds until a transfer begins or ends:
///
///   work done += time × rate,  the transfer ends when its work is done: after ceil(rest / rate)
///
/// with the work of a transfer that takes t picoseconds at its own rate being t × that rate. Work
/// is kept in 128 bits. When transfers begin or end, rates are found anew for those that the change
/// can reach through common links; all others keep theirs, since fair rates of parts that share no
/// link do not depend on each other.

#include "sim/executor.hpp"
#include "sim/max_min_fair_rates.hpp"
#include "sim/population.hpp"

#include "sim/base/wide_integers.hpp"

#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

namespace stepsim::sim {

class Transfers {
 public:
  static constexpr std::int64_t never = INT64_MAX;

  /// `population` must outlive the object.
  explicit Transfers(const Population& population);

  struct Ended {
    RendezvousId rendezvous;
    /// The class of the link that held it at its lowest rate below its own; the lowest class of
    /// several.
    std::uint32_t slowest_link_class;  // or Meeting::no_link
  };

  /// A transfer of `duration_ps` at its own rate begins. A rendezvous has at most one at a time.
  void begin(RendezvousId rendezvous, std::int64_t now_ps, std::int64_t duration_ps,
             std::int64_t own_rate);

  /// When a rendezvous' transfer can end at the earliest, at its own rate from now on; 0 where none
  /// is in progress.
  std::int64_t earliest_end(RendezvousId rendezvous, std::int64_t now_ps) const;

  /// When the next transfer ends if none begins before.
  std::int64_t next_end();

  /// Takes out those that end at `now_ps`, which is next_end(), in order of their rendezvous.
  std::vector<Ended> end(std::int64_t now_ps);

 private:
  struct Transfer {
    std::int64_t own_rate = 0;
    std::int64_t rate = 0;
    WideSigned rest = 0;
    std::int64_t since_ps = 0;
    std::int64_t end_ps = never;
    bool active = false;
    bool reached = false;  // by the change that is being worked in
    // What slows it: at present, since when, and at its lowest rate so far.
    std::optional<std::uint32_t> link_class;
    std::int64_t link_since_ps = 0;
    std::int64_t lowest_rate = never;
    std::optional<std::uint32_t> slowest_link_class;
  };

  struct End {
    std::int64_t time_ps = 0;
    std::uint32_t rendezvous = 0;
    bool operator>(const End& other) const {
      return time_ps != other.time_ps ? time_ps > other.time_ps : rendezvous > other.rendezvous;
    }
  };

  const std::vector<LinkUse>& links(std::uint32_t rendezvous) const {
    return population_.rendezvous[rendezvous].links;
  }
  bool holds(const End& end) const {
    return transfers_[end.rendezvous].active && transfers_[end.rendezvous].end_ps == end.time_ps;
  }
  void share();
  void reach_from_changed_links();
  void set_rate(std::uint32_t rendezvous, std::int64_t rate);
  static void note_slowest(Transfer& transfer, std::int64_t now_ps);
  std::optional<std::uint32_t> link_class_of(std::size_t reached);

  const Population& population_;
  std::vector<Transfer> transfers_;                  // by rendezvous
  std::vector<std::vector<std::uint32_t>> on_link_;  // rendezvous with a transfer there
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;  // some no longer hold
  std::int64_t now_ps_ = 0;

  // The change since rates were last found.
  std::vector<std::uint32_t> changed_links_;
  std::vector<std::uint32_t> reached_;  // rendezvous
  std::vector<bool> link_reached_;
  std::vector<LinkId> full_links_;
  MaxMin max_min_;
};

}  // namespace stepsim::sim
