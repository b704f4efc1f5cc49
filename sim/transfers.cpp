#include "sim/transfers.hpp"

#include "sim/base/error.hpp"

#include <algorithm>

namespace stepsim::sim {

void Transfers::begin(RendezvousId rendezvous, std::int64_t now_ps, std::int64_t duration_ps,
                      std::int64_t own_rate) {
  Active transfer;
  transfer.rendezvous = rendezvous;
  transfer.own_rate = own_rate;
  transfer.rest = WideSigned{duration_ps} * own_rate;
  transfer.since_ps = now_ps;
  const auto place =
      std::lower_bound(active_.begin(), active_.end(), rendezvous,
                       [](const Active& a, RendezvousId id) { return a.rendezvous < id; });
  active_.insert(place, transfer);
  now_ps_ = now_ps;
  stale_ = true;
}

std::int64_t Transfers::next_end() {
  if (stale_) share();
  std::int64_t next = never;
  for (const Active& transfer : active_) next = std::min(next, transfer.end_ps);
  return next;
}

std::vector<RendezvousId> Transfers::end(std::int64_t now_ps) {
  std::vector<RendezvousId> ended;
  std::erase_if(active_, [&](const Active& transfer) {
    if (transfer.end_ps != now_ps) return false;
    ended.push_back(transfer.rendezvous);
    return true;
  });
  now_ps_ = now_ps;
  stale_ = true;
  return ended;
}

/// Finds the rates that hold from now on, and books the work done at the old ones.
void Transfers::share() {
  std::vector<MaxMinTransfer> transfers;
  transfers.reserve(active_.size());
  for (const Active& transfer : active_) {
    transfers.push_back(
        {transfer.own_rate, population_.rendezvous[transfer.rendezvous.index()].links});
  }
  const std::vector<std::int64_t> rates = max_min_rates(population_.link_capacity, transfers);
  for (std::size_t i = 0; i < active_.size(); ++i) {
    Active& transfer = active_[i];
    if (rates[i] == transfer.rate) continue;
    transfer.rest -= WideSigned{now_ps_ - transfer.since_ps} * transfer.rate;
    if (transfer.rest < 0) transfer.rest = 0;
    transfer.since_ps = now_ps_;
    transfer.rate = rates[i];
    const WideSigned left = (transfer.rest + transfer.rate - 1) / transfer.rate;
    if (left > INT64_MAX - now_ps_) throw RangeError("a transfer takes more than 106 days");
    transfer.end_ps = now_ps_ + static_cast<std::int64_t>(left);
  }
  stale_ = false;
}

}  // namespace stepsim::sim
