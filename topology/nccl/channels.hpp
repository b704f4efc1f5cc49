#pragma once

/// How many channels a collective or a message really uses: each is one thread block that holds an
/// SM for as long as the kernel runs. Rules: NCCL 2.30.7, src/enqueue.cc.

#include "topology/nccl/tuning.hpp"

namespace stepsim::topology::nccl {

/// A small message is spread over fewer channels, so that each thread still has something to move.
int channels_used(const Communicator& communicator, const Choice& choice, Bytes bytes);

/// Channels of one send or receive to a peer.
enum class PeerPath { nvlink, pci, network };
int point_to_point_channels(const Communicator& communicator, PeerPath path, Bytes bytes);

}  // namespace stepsim::topology::nccl
