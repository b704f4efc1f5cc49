#pragma once

/// How the GPUs of a box hang together over NVLink, judged on the graph of their links. Private to
/// topology.

#include "topology/imported_box.hpp"

namespace stepsim::topology {

struct NvlinkShape {
  Interconnect interconnect = Interconnect::pcie;
  int links_of_a_gpu = 0;
  int domain = 0;        // as Node::nvlink_domain
  bool assumed = false;  // the file does not say
};

/// Adds to the notes of the box what looks odd.
NvlinkShape nvlink_shape(Box& box, const Device& device);

}  // namespace stepsim::topology
