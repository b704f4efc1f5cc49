#pragma once

/// Indices as types: an index of one kind cannot be passed where another is meant.

#include <compare>
#include <cstddef>
#include <cstdint>

namespace stepsim::sim {

template <class Tag>
struct Id {
  std::uint32_t value = 0;
  constexpr std::size_t index() const { return value; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

using Rank = Id<struct RankTag>;                    // one GPU process of the job
using ProgramId = Id<struct ProgramTag>;            // a program, shared by the ranks that run it
using StreamId = Id<struct StreamTag>;              // a stream of a program
using EventId = Id<struct EventTag>;                // an event of a program
using KernelId = Id<struct KernelTag>;              // a row of Job::kernels
using CollectiveId = Id<struct CollectiveTag>;      // a row of Job::collectives
using CommunicatorId = Id<struct CommunicatorTag>;  // a communicator of the job
using ChannelId = Id<struct ChannelTag>;            // a directed pair of ranks of the job
using LinkId = Id<struct LinkTag>;                  // a row of Job::links
using SlotId =
    Id<struct SlotTag>;  // a program's name for a communicator or channel, bound per rank
using BufferId = Id<struct BufferTag>;  // a named buffer of a program
using ClassId = Id<struct ClassTag>;    // ranks that cannot be told apart, see sim/rank_classes.hpp
using ScopeId = Id<struct ScopeTag>;    // where in the model an op belongs, for people

}  // namespace stepsim::sim
