#include "topology/nccl/tuning.hpp"

#include <algorithm>
#include <bit>

namespace stepsim::topology::nccl {

namespace {

int floor_log2(int value) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(value))) - 1;
}

std::size_t index(Algorithm algorithm) { return static_cast<std::size_t>(algorithm); }
std::size_t index(Protocol protocol) { return static_cast<std::size_t>(protocol); }
std::size_t index(Hop hop) { return static_cast<std::size_t>(hop); }

/// A network's own latency counts twice with the Simple protocol, as NCCL counts it: for the data
/// and for what tells of its arrival.
double hop_latency(const Communicator& communicator, Hop hop, Algorithm algorithm,
                   Protocol protocol) {
  const double hop_us =
      communicator.tables->hop_latency_us[index(hop)][index(algorithm)][index(protocol)];
  if (hop != Hop::network) return hop_us;
  return hop_us + (protocol == Protocol::simple ? 2 : 1) * communicator.network_latency_us;
}

Hop hop_inside(const Communicator& communicator) {
  return communicator.links.nvlink > 0 ? Hop::nvlink : Hop::pci;
}

/// All-reduce, all-gather, reduce-scatter: every step waits for a hop, and on several nodes every
/// step also posts a network operation.
double ring_steps_latency(const Communicator& communicator, Operation operation, Protocol protocol,
                          double inside, double between) {
  const int passes = operation == Operation::all_reduce ? 2 : 1;
  const int steps = passes * (communicator.group.ranks - 1);
  const int between_nodes = passes * (communicator.group.nodes - 1);
  double posting = 0;
  if (communicator.group.nodes > 1) {
    posting = communicator.network_overhead_us * (protocol == Protocol::simple ? 3 : 1);
  }
  return (steps - between_nodes) * std::max(inside, posting) + between_nodes * between;
}

/// Broadcast over a ring whose channels enter every node at the same place.
double ring_broadcast_latency(const Communicator& communicator, Protocol protocol) {
  const Hop hop = communicator.group.nodes == 1 ? hop_inside(communicator) : Hop::network;
  return hop_latency(communicator, hop, Algorithm::ring, protocol);
}

}  // namespace

double candidate_latency_us(const Communicator& communicator, Operation operation,
                            Algorithm algorithm, Protocol protocol) {
  const double base = communicator.tables->base_latency_us[index(algorithm)][index(protocol)];
  const double inside = hop_latency(communicator, hop_inside(communicator), algorithm, protocol);
  // With one rank a node nothing hides the network, which the tree's row counts.
  const bool one_rank_a_node = communicator.group.ranks == communicator.group.nodes;
  const double between = hop_latency(communicator, Hop::network,
                                     one_rank_a_node ? Algorithm::tree : algorithm, protocol);
  const int node_levels = floor_log2(communicator.group.nodes);
  switch (algorithm) {
    case Algorithm::ring:
      return base + (operation == Operation::broadcast
                         ? ring_broadcast_latency(communicator, protocol)
                         : ring_steps_latency(communicator, operation, protocol, inside, between));
    case Algorithm::tree:
      return base + 2 * ((communicator.ranks_per_node() - 1) * inside + node_levels * between);
    case Algorithm::nvls:
      return inside + (communicator.group.nodes > 1 ? between : 0);
    case Algorithm::nvls_tree:
      return base + inside + 2 * node_levels * between;
    case Algorithm::pat:
      return base + node_levels * between / 3.5 + communicator.group.ranks * 2.8;
    case Algorithm::collnet_direct: {
      const double others = communicator.ranks_per_node() - 1;
      constexpr double of_each_other_us = 0.4;
      return base + 2 * (std::min(1.0, others) * inside + others * of_each_other_us) + between;
    }
    case Algorithm::collnet_chain:
      return base + 2 * (communicator.ranks_per_node() - 1) * inside + between;
  }
  return base;
}

}  // namespace stepsim::topology::nccl
