#include "sim/transfers.hpp"

#include "sim/base/error.hpp"

#include <algorithm>

namespace stepsim::sim {

Transfers::Transfers(const Population& population)
    : population_(population),
      transfers_(population.rendezvous.size()),
      on_link_(population.link_capacity.size()),
      link_reached_(population.link_capacity.size()),
      max_min_(population.link_capacity) {}

void Transfers::begin(RendezvousId rendezvous, std::int64_t now_ps, std::int64_t duration_ps,
                      std::int64_t own_rate) {
  Transfer& transfer = transfers_[rendezvous.index()];
  transfer = {};
  transfer.own_rate = own_rate;
  transfer.rest = WideSigned{duration_ps} * own_rate;
  transfer.since_ps = transfer.link_since_ps = now_ps;
  transfer.active = true;
  for (const LinkUse& use : links(rendezvous.value)) {
    on_link_[use.link.index()].push_back(rendezvous.value);
    changed_links_.push_back(use.link.value);
  }
  now_ps_ = now_ps;
}

std::int64_t Transfers::earliest_end(RendezvousId rendezvous, std::int64_t now_ps) const {
  const Transfer& transfer = transfers_[rendezvous.index()];
  if (!transfer.active) return 0;
  const WideSigned rest = transfer.rest - WideSigned{now_ps - transfer.since_ps} * transfer.rate;
  const WideSigned least = rest <= 0 ? 0 : rest / transfer.own_rate;
  return now_ps + static_cast<std::int64_t>(std::min<WideSigned>(least, INT64_MAX - now_ps));
}

std::int64_t Transfers::next_end() {
  if (!changed_links_.empty()) share();
  while (!ends_.empty() && !holds(ends_.top())) ends_.pop();
  return ends_.empty() ? never : ends_.top().time_ps;
}

std::vector<Transfers::Ended> Transfers::end(std::int64_t now_ps) {
  std::vector<Ended> ended;
  while (next_end() == now_ps) {
    const std::uint32_t rendezvous = ends_.top().rendezvous;
    ends_.pop();
    transfers_[rendezvous].active = false;
    note_slowest(transfers_[rendezvous], now_ps);
    ended.push_back({RendezvousId{rendezvous},
                     transfers_[rendezvous].slowest_link_class.value_or(Meeting::no_link)});
    if (!ends_.empty() && ends_.top().time_ps == now_ps) continue;
    break;
  }
  for (const Ended& gone : ended) {
    for (const LinkUse& use : links(gone.rendezvous.value)) {
      std::erase(on_link_[use.link.index()], gone.rendezvous.value);
      changed_links_.push_back(use.link.value);
    }
  }
  now_ps_ = now_ps;
  return ended;
}

/// Finds the rates that hold from now on, and books the work done at the old ones.
void Transfers::share() {
  reach_from_changed_links();
  std::sort(reached_.begin(), reached_.end());
  std::vector<MaxMinTransfer> transfers;
  transfers.reserve(reached_.size());
  for (const std::uint32_t id : reached_) transfers.push_back({transfers_[id].own_rate, links(id)});
  const std::vector<std::int64_t>& rates = max_min_.rates(transfers);
  for (std::size_t i = 0; i < reached_.size(); ++i) {
    Transfer& transfer = transfers_[reached_[i]];
    transfer.reached = false;
    note_slowest(transfer, now_ps_);
    transfer.link_class = link_class_of(i);
    transfer.link_since_ps = now_ps_;
    set_rate(reached_[i], rates[i]);
  }
}

/// Before the rate changes: what has held for a time counts, what lasted no time does not.
void Transfers::note_slowest(Transfer& transfer, std::int64_t now_ps) {
  if (!transfer.link_class || now_ps == transfer.link_since_ps) return;
  if (transfer.rate >= transfer.lowest_rate) return;
  transfer.lowest_rate = transfer.rate;
  transfer.slowest_link_class = transfer.link_class;
}

/// The lowest class of the links that hold a transfer below its own rate.
std::optional<std::uint32_t> Transfers::link_class_of(std::size_t reached) {
  if (!max_min_.stopped_by_links(reached, full_links_)) return std::nullopt;
  std::optional<std::uint32_t> lowest;
  for (const LinkId link : full_links_) {
    const std::uint32_t link_class = population_.link_class[link.index()];
    if (!lowest || link_class < *lowest) lowest = link_class;
  }
  return lowest;
}

void Transfers::reach_from_changed_links() {
  reached_.clear();
  std::vector<std::uint32_t> links_reached;
  const auto reach_link = [&](std::uint32_t link) {
    if (link_reached_[link]) return;
    link_reached_[link] = true;
    links_reached.push_back(link);
  };
  for (const std::uint32_t link : changed_links_) reach_link(link);
  for (std::size_t i = 0; i < links_reached.size(); ++i) {
    for (const std::uint32_t id : on_link_[links_reached[i]]) {
      if (transfers_[id].reached) continue;
      transfers_[id].reached = true;
      reached_.push_back(id);
      for (const LinkUse& use : links(id)) reach_link(use.link.value);
    }
  }
  for (const std::uint32_t link : links_reached) link_reached_[link] = false;
  changed_links_.clear();
}

void Transfers::set_rate(std::uint32_t rendezvous, std::int64_t rate) {
  Transfer& transfer = transfers_[rendezvous];
  if (rate == transfer.rate) return;
  transfer.rest -= WideSigned{now_ps_ - transfer.since_ps} * transfer.rate;
  if (transfer.rest < 0) transfer.rest = 0;
  transfer.since_ps = now_ps_;
  transfer.rate = rate;
  const WideSigned left = (transfer.rest + rate - 1) / rate;
  if (left > INT64_MAX - now_ps_) throw RangeError("a transfer takes more than 106 days");
  transfer.end_ps = now_ps_ + static_cast<std::int64_t>(left);
  ends_.push({transfer.end_ps, rendezvous});
}

}  // namespace stepsim::sim
