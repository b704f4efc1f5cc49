#include "topology/nccl/tuning.hpp"

#include <algorithm>

namespace stepsim::topology::nccl {

namespace {

bool is_nvls(Algorithm algorithm) {
  return algorithm == Algorithm::nvls || algorithm == Algorithm::nvls_tree;
}

bool is_collnet(Algorithm algorithm) {
  return algorithm == Algorithm::collnet_direct || algorithm == Algorithm::collnet_chain;
}

/// GPUs of a node that CollNetDirect joins at most: a GPU and the peers it may reduce from.
constexpr int most_collnet_direct_gpus = 8;

bool gathers_or_scatters(Operation operation) {
  return operation == Operation::all_gather || operation == Operation::reduce_scatter;
}

std::size_t row(Architecture architecture) { return static_cast<std::size_t>(architecture); }

/// LL depends on the GPU inside a node, on the CPU between nodes.
double ll_most(const Communicator& communicator) {
  std::size_t entry = row(communicator.links.architecture);
  if (communicator.group.nodes > 1) {
    entry =
        row(communicator.links.cpu == CpuVendor::amd ? Architecture::ampere : Architecture::volta);
  }
  return communicator.tables->ll_most[entry][communicator.scale()];
}

/// LL128 needs NVLink inside the node and a network port near every GPU.
bool ll128_enabled(const Communicator& communicator) {
  return communicator.links.compute_capability >= 70 &&
         (communicator.links.nvlink > 0 || communicator.group.ranks_per_node == 1);
}

bool available(const Communicator& communicator, Operation operation, Algorithm algorithm,
               Protocol protocol) {
  const bool several_nodes = communicator.group.nodes > 1;
  if (protocol == Protocol::ll128 && !ll128_enabled(communicator)) return false;
  switch (algorithm) {
    case Algorithm::ring:
      return true;
    case Algorithm::tree:
      return operation == Operation::all_reduce;
    case Algorithm::nvls:  // between nodes only with switches that reduce
      return operation != Operation::broadcast && protocol == Protocol::simple &&
             (!several_nodes ||
              (communicator.in_network_reduction && operation == Operation::all_reduce));
    case Algorithm::nvls_tree:
      return operation == Operation::all_reduce && protocol == Protocol::simple && several_nodes;
    case Algorithm::pat:  // only with one rank a node
      return gathers_or_scatters(operation) && protocol == Protocol::simple && several_nodes &&
             communicator.group.ranks == communicator.group.nodes;
    case Algorithm::collnet_direct:  // the switches of the network reduce, as asked for
      if (communicator.links.nvlink <= 0 ||
          communicator.group.ranks_per_node > most_collnet_direct_gpus) {
        return false;
      }
      [[fallthrough]];
    case Algorithm::collnet_chain:
      return communicator.in_network_reduction && several_nodes && protocol == Protocol::simple &&
             operation == Operation::all_reduce;
  }
  return false;
}

const ChannelGraph& graph_of(const Graphs& graphs, Algorithm algorithm) {
  if (is_nvls(algorithm)) return graphs.nvls;
  return algorithm == Algorithm::tree ? graphs.tree : graphs.ring;
}

/// One channel of NVLS or NVLSTree.
double nvls_channel_bandwidth(const Communicator& communicator, Operation operation,
                              Algorithm algorithm) {
  const ChannelGraph& graph = communicator.graphs.nvls;
  const double ranks_per_node = communicator.ranks_per_node();
  const double others = (ranks_per_node - 1) / ranks_per_node;
  const bool few_nodes = communicator.group.nodes <= 2;
  if (communicator.tables->nvls_model == NvlsModel::minimum) {
    if (algorithm == Algorithm::nvls_tree) {
      return std::min(graph.inside, few_nodes ? graph.between : graph.between / 2);
    }
    return operation == Operation::all_reduce
               ? std::min(graph.inside, graph.between)
               : std::min(graph.inside * others, graph.between * 0.9);
  }
  const std::size_t architecture = row(communicator.links.architecture);
  const double head_share = static_cast<double>(graph.channels - 1) / graph.channels;
  const double inside = graph.inside * communicator.tables->nvls_efficiency[architecture] *
                        head_share * (operation == Operation::all_reduce ? 2 : others);
  if (algorithm == Algorithm::nvls) return std::min(inside, graph.between);
  const double between = graph.between * (few_nodes ? 2 : 1);
  const double most = communicator.tables->nvls_tree_most[architecture][communicator.scale()];
  return std::min({inside, between, most});
}

double ring_bus_bandwidth(const Communicator& communicator, Protocol protocol, double bandwidth) {
  const auto& tables = *communicator.tables;
  if (protocol == Protocol::ll) return std::min(ll_most(communicator), bandwidth * 0.5);
  if (protocol == Protocol::simple) return bandwidth;
  const double most =
      tables.ring_ll128_most[row(communicator.links.architecture)][communicator.scale()];
  return std::min(bandwidth * 0.92, communicator.graphs.ring.channels * most);
}

double tree_bus_bandwidth(const Communicator& communicator, Protocol protocol, double bandwidth) {
  const auto& tables = *communicator.tables;
  const std::size_t architecture = row(communicator.links.architecture);
  const std::size_t scale = communicator.scale();
  const int channels = communicator.graphs.tree.channels;
  bandwidth = std::min(bandwidth * 0.92, channels * tables.tree_most[architecture][scale]);
  if (protocol == Protocol::ll) bandwidth = std::min(bandwidth / 3.8, ll_most(communicator));
  if (protocol == Protocol::ll128) {
    const double payload = communicator.group.nodes == 1 ? 7.0 / 9.0 : 120.0 / 128.0;
    bandwidth =
        std::min(bandwidth * payload, channels * tables.tree_ll128_most[architecture][scale]);
  }
  if (communicator.graphs.tree_pattern == TreePattern::simple) bandwidth *= 0.85;
  return bandwidth;
}

/// CollNetDirect spreads a node's traffic over the GPUs at its ports; more GPUs than channels make
/// them share.
double collnet_bus_bandwidth(const Communicator& communicator, Algorithm algorithm) {
  const ChannelGraph& graph = communicator.graphs.ring;
  const double bandwidth = graph.channels * graph.inside;
  if (algorithm == Algorithm::collnet_chain) return bandwidth;
  const double gpus_of_a_channel = communicator.ranks_per_node() / graph.channels;
  const double sharing = gpus_of_a_channel - (gpus_of_a_channel - 1) / 2;
  const double recent = communicator.links.compute_capability >= 90 ? 0.85 : 1;
  return bandwidth / sharing * recent;
}

double bus_bandwidth(const Communicator& communicator, Operation operation, Algorithm algorithm,
                     Protocol protocol) {
  const ChannelGraph& graph = graph_of(communicator.graphs, algorithm);
  if (is_nvls(algorithm)) {
    if (graph.channels < 2) return 0;
    return graph.channels * nvls_channel_bandwidth(communicator, operation, algorithm);
  }
  if (is_collnet(algorithm)) return collnet_bus_bandwidth(communicator, algorithm);
  const double bandwidth =
      graph.channels * (communicator.group.nodes <= 2 ? graph.inside : graph.between);
  if (algorithm == Algorithm::tree) return tree_bus_bandwidth(communicator, protocol, bandwidth);
  if (algorithm == Algorithm::pat) return bandwidth * 0.75;
  return ring_bus_bandwidth(communicator, protocol, bandwidth);
}

/// Steps of a ring: what the bytes of a collective are divided by.
double ring_steps(Operation operation, int ranks) {
  if (operation == Operation::all_reduce) return 2.0 * (ranks - 1);
  return gathers_or_scatters(operation) ? ranks - 1.0 : ranks;
}

}  // namespace

double candidate_bandwidth(const Communicator& communicator, Operation operation,
                           Algorithm algorithm, Protocol protocol) {
  if (!available(communicator, operation, algorithm, protocol)) return 0;
  const double bandwidth = bus_bandwidth(communicator, operation, algorithm, protocol);
  if (algorithm != Algorithm::ring && gathers_or_scatters(operation)) return bandwidth;
  const double rounds = communicator.group.ranks / ring_steps(operation, communicator.group.ranks);
  if (algorithm == Algorithm::ring) return bandwidth * rounds;
  if (!is_nvls(algorithm)) return bandwidth * 0.5;
  return bandwidth * (communicator.tables->nvls_model == NvlsModel::minimum ? 5.0 / 6.0 : rounds);
}

}  // namespace stepsim::topology::nccl
