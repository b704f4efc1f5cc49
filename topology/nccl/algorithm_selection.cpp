#include "topology/nccl/tuning.hpp"

#include <bit>

namespace stepsim::topology::nccl {

namespace {

constexpr Algorithm algorithms[] = {Algorithm::tree,
                                    Algorithm::ring,
                                    Algorithm::collnet_direct,
                                    Algorithm::collnet_chain,
                                    Algorithm::nvls,
                                    Algorithm::nvls_tree,
                                    Algorithm::pat};
constexpr Protocol protocols[] = {Protocol::ll, Protocol::ll128, Protocol::simple};
/// Entries of the correction that trees use; NVLSTree uses one more.
constexpr int tree_correction_sizes = 23;

/// Trees do not follow a straight line at medium sizes; NCCL corrects them by a table over
/// floor(log2(bytes / 64)).
double tree_correction(const Communicator& communicator, Operation operation,
                       const Candidate& candidate, Bytes bytes) {
  const bool tree = candidate.algorithm == Algorithm::tree;
  const auto architecture = static_cast<std::size_t>(communicator.links.architecture);
  const bool nvls_tree = candidate.algorithm == Algorithm::nvls_tree &&
                         communicator.links.cpu != CpuVendor::arm &&
                         communicator.tables->nvls_tree_corrected[architecture];
  if (operation != Operation::all_reduce || (!tree && !nvls_tree)) return 1;
  const auto blocks = static_cast<std::uint64_t>(bytes.count()) / 64;
  const int size = static_cast<int>(std::bit_width(blocks)) - 1;
  if (size < 0 || size >= tree_correction_sizes + (nvls_tree ? 1 : 0)) return 1;
  const auto protocol = static_cast<std::size_t>(candidate.protocol);
  return communicator.tables->tree_correction[protocol][static_cast<std::size_t>(size)];
}

/// Between nodes a ring with much data waits longer than its steps alone.
double plateau(const Communicator& communicator, Operation operation, const Candidate& candidate,
               Bytes bytes) {
  const std::int64_t pieces =
      std::int64_t{communicator.graphs.collective_channels} * communicator.group.ranks;
  const bool applies = candidate.algorithm == Algorithm::ring &&
                       candidate.protocol == Protocol::simple && communicator.group.nodes > 1 &&
                       operation == Operation::all_reduce && bytes.count() / pieces >= 64;
  if (!applies) return 1;
  return communicator.links.compute_capability < 80 ? 1.9 : 1.4;
}

}  // namespace

std::vector<Candidate> candidates(const Communicator& communicator, Operation operation) {
  std::vector<Candidate> enabled;
  for (const Algorithm algorithm : algorithms) {
    for (const Protocol protocol : protocols) {
      const double bandwidth = candidate_bandwidth(communicator, operation, algorithm, protocol);
      if (!(bandwidth > 0)) continue;
      enabled.push_back({algorithm, protocol,
                         candidate_latency_us(communicator, operation, algorithm, protocol),
                         bandwidth});
    }
  }
  return enabled;
}

Choice predict(const Communicator& communicator, Operation operation, const Candidate& candidate,
               Bytes bytes) {
  Choice choice{candidate.algorithm, candidate.protocol, candidate.latency_us, candidate.bandwidth,
                0};
  choice.bandwidth *= tree_correction(communicator, operation, candidate, bytes);
  choice.latency_us *= plateau(communicator, operation, candidate, bytes);
  choice.time_us =
      choice.latency_us + static_cast<double>(bytes.count()) / (1000 * choice.bandwidth);
  return choice;
}

std::optional<Choice> choose(const Communicator& communicator, Operation operation,
                             const std::vector<Candidate>& candidates, Bytes bytes) {
  std::optional<Choice> fastest;
  for (const Candidate& candidate : candidates) {
    const Choice choice = predict(communicator, operation, candidate, bytes);
    if (!fastest || choice.time_us < fastest->time_us) fastest = choice;
  }
  return fastest;
}

}  // namespace stepsim::topology::nccl
