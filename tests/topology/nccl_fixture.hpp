#pragma once

/// Communicators to test the tuner with, on the node types that ship.

#include "topology/nccl/tuning.hpp"

#include <algorithm>
#include <string>

namespace stepsim::topology::nccl {

inline DataDirectory shipped_data() { return DataDirectory(STEPSIM_SOURCE_DIRECTORY); }

/// Whole nodes of a type, or `gpus` GPUs on each.
class TestSystem {
 public:
  explicit TestSystem(const std::string& node, const std::string& version = "2.30.7")
      : tables_(load_tuner_tables(shipped_data(), version)),
        search_(load_search_tables(shipped_data())),
        node_(load_node(shipped_data(), node)),
        links_(node_links(node_, search_)) {}

  Communicator communicator(int nodes, int gpus = 0, int ports = 0) const {
    Communicator result;
    if (gpus == 0) gpus = node_.gpus;
    if (ports == 0) ports = std::max(1, node_.nics.value * gpus / node_.gpus);
    result.group = {nodes * gpus, nodes, gpus, ports};
    result.links = links_;
    result.graphs = search_graphs(links_, result.group, search_);
    result.network_overhead_us = search_.network_overhead_us[static_cast<std::size_t>(links_.cpu)];
    result.tables = &tables_;
    return result;
  }
  Choice choose_of(const Communicator& communicator, Operation operation,
                   std::int64_t bytes) const {
    return choose(communicator, operation, candidates(communicator, operation), Bytes(bytes))
        .value();
  }
  const NodeLinks& links() const { return links_; }
  const SearchTables& search() const { return search_; }

 private:
  TunerTables tables_;
  SearchTables search_;
  Node node_;
  NodeLinks links_;
};

}  // namespace stepsim::topology::nccl
