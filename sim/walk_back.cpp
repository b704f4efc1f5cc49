#include "sim/walk_back.hpp"

namespace stepsim::sim {

namespace {

bool runs_for_a_time(OpKind kind) { return kind == OpKind::kernel || is_coupling_op(kind); }

}  // namespace

std::optional<Place> RankWalk::last(Time rank_end) const {
  for (std::uint32_t i = 0; i < times_.size(); ++i) {
    if (runs_for_a_time(program_->ops[i].kind) && times_[i].end == rank_end) {
      return Place{i, Place::Part::run};
    }
  }
  return before_host_of(static_cast<std::uint32_t>(times_.size())).place;
}

Time RankWalk::begin(Place place) const {
  const OpTimes& times = times_[place.op];
  if (place.part == Place::Part::run) return times.arrival;
  return times.issued - program_->ops[place.op].host_time;
}

Time RankWalk::end(Place place) const {
  const OpTimes& times = times_[place.op];
  return place.part == Place::Part::run ? times.end : times.issued;
}

RankWalk::Back RankWalk::back(Place place) const {
  if (place.part == Place::Part::issue) return before_host_of(place.op);
  const OpTimes& times = times_[place.op];
  if (!times.predecessor) return {Place{place.op, Place::Part::issue}};
  return {Place{*times.predecessor, Place::Part::run}};
}

RankWalk::Back RankWalk::before_host_of(std::uint32_t op) const {
  if (op == 0) return {};
  const std::uint32_t previous = op - 1;
  const bool stopped =
      program_->ops[previous].kind == OpKind::host_sync && times_[previous].predecessor.has_value();
  if (stopped) return {Place{*times_[previous].predecessor, Place::Part::run}, true};
  return {Place{previous, Place::Part::issue}};
}

}  // namespace stepsim::sim
