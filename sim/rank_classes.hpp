#pragma once

/// Classes: sets of ranks that no program can tell apart, so that one of each need be executed.
///
/// Two ranks are of one class when they run the same program at the same speed and, slot by slot,
/// are bound to communicators and channels of one class; two communicators or channels are of one
/// class when they cost the same and have the same members, counted by class and slot. The largest
/// such classes are found by refinement: start from program and speed, split by what the slots are
/// bound to, until nothing splits. The result is checked member by member, so that no coincidence
/// of hashes can join what differs. Where kernels have noise (Job::jitter) every rank is a class.

#include "sim/job.hpp"

#include <cstdint>
#include <vector>

namespace stepsim::sim {

struct Classes {
  std::vector<ClassId> of_rank;      // numbered by the lowest rank of each
  std::vector<Rank> representative;  // of each class, its lowest rank
  std::vector<std::uint32_t> size;   // of each class, its ranks
  /// Of each communicator, and of each channel, its own class; each kind is numbered apart.
  std::vector<std::uint32_t> of_communicator;
  std::vector<std::uint32_t> of_channel;
  std::vector<std::uint32_t> of_link;  // and of each link

  std::size_t count() const { return representative.size(); }
};

/// Finds the classes of a job that check_job accepts.
Classes find_classes(const Job& job);

}  // namespace stepsim::sim
