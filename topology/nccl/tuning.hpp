#pragma once

/// NCCL's prediction of a collective: for every algorithm and protocol a latency and a bandwidth,
/// and the choice between them. Formulas: NCCL 2.30.7, src/graph/tuning.cc, ncclTopoTuneModel and
/// ncclTopoGetAlgoTime; 2.27.7 where its model differs (NvlsModel).

#include "topology/nccl/graph_search.hpp"

#include "sim/base/units.hpp"

#include <optional>
#include <vector>

namespace stepsim::topology::nccl {

enum class Operation { all_reduce, all_gather, reduce_scatter, broadcast };

/// One (algorithm, protocol) pair that is enabled: time = latency + bytes / bandwidth, before the
/// corrections that depend on the size.
struct Candidate {
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
  double latency_us = 0;
  double bandwidth = 0;  // algorithm bandwidth in GB/s: of the bytes as nccl-tests counts them
};

/// A candidate at one size.
struct Choice {
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
  double latency_us = 0;
  double bandwidth = 0;
  double time_us = 0;
};

/// A communicator: the group, what the search found for it, and the tables.
struct Communicator {
  GroupLayout group;
  NodeLinks links;
  Graphs graphs;
  double network_overhead_us = 1;
  double network_latency_us = 0;        // of a hop between nodes, beyond what the tables count
  bool in_network_reduction = false;    // SHARP: lets NVLS go on between nodes
  const TunerTables* tables = nullptr;  // not owned

  double ranks_per_node() const { return static_cast<double>(group.ranks) / group.nodes; }
  /// Column of a PerScale row.
  std::size_t scale() const {
    return group.nodes <= 2 ? static_cast<std::size_t>(group.nodes - 1) : 2;
  }
};

/// Bus bandwidth of a pair restated as algorithm bandwidth; 0 when NCCL does not use the pair.
double candidate_bandwidth(const Communicator& communicator, Operation operation,
                           Algorithm algorithm, Protocol protocol);
double candidate_latency_us(const Communicator& communicator, Operation operation,
                            Algorithm algorithm, Protocol protocol);

/// Enabled pairs in NCCL's order.
std::vector<Candidate> candidates(const Communicator& communicator, Operation operation);
/// A candidate's prediction for a message (ncclTopoGetAlgoTime with one operation in the pipeline).
Choice predict(const Communicator& communicator, Operation operation, const Candidate& candidate,
               Bytes bytes);
/// The fastest of `candidates`, the first of equals. Empty when there is none.
std::optional<Choice> choose(const Communicator& communicator, Operation operation,
                             const std::vector<Candidate>& candidates, Bytes bytes);

}  // namespace stepsim::topology::nccl
