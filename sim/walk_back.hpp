#pragma once

/// Steps back through the replayed times of one rank, from an op to what it waited for. An op has
/// two parts: the host issues it, then it runs on its stream. Consecutive places of a walk touch:
/// one ends when the next begins, except that a coupling op may wait for others between its arrival
/// and its start.

#include "sim/executor.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace stepsim::sim {

struct Place {
  enum class Part : std::uint8_t { issue, run };
  std::uint32_t op = 0;
  Part part = Part::run;
};

class RankWalk {
 public:
  RankWalk(const Program& program, std::vector<OpTimes> times)
      : program_(&program), times_(std::move(times)) {}

  const Program& program() const { return *program_; }
  const std::vector<OpTimes>& times() const { return times_; }

  /// The place that ends when the rank does: the first such op, else the host's last action.
  /// Nothing for a program without ops.
  std::optional<Place> last(Time rank_end) const;

  /// Where the place began: when the host turned to the op, or when the op was ready to run.
  Time begin(Place place) const;
  Time end(Place place) const;

  struct Back {
    std::optional<Place> place;      // nothing at the beginning of the step
    bool through_host_sync = false;  // the host was stopped until the place had ended
  };
  /// What had to end for the place to begin.
  Back back(Place place) const;

 private:
  Back before_host_of(std::uint32_t op) const;

  const Program* program_;
  std::vector<OpTimes> times_;
};

}  // namespace stepsim::sim
