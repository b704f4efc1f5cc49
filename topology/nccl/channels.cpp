#include "topology/nccl/channels.hpp"

#include <algorithm>
#include <bit>

namespace stepsim::topology::nccl {

namespace {

/// A ring this slow (a PCIe lane) gets half the threads.
constexpr double slow_ring_gb_per_s = 12;

std::int64_t threads(const Communicator& communicator, const Choice& choice) {
  if (choice.protocol == Protocol::ll128) return 640;
  const ChannelGraph& ring = communicator.graphs.ring;
  const bool slow_ring = choice.algorithm == Algorithm::ring &&
                         choice.protocol == Protocol::simple &&
                         ring.inside * ring.channels <= slow_ring_gb_per_s;
  return slow_ring ? 256 : 512;
}

/// Bytes a thread should have to move.
std::int64_t thread_threshold(const Communicator& communicator, const Choice& choice) {
  const bool collnet =
      choice.algorithm == Algorithm::collnet_direct || choice.algorithm == Algorithm::collnet_chain;
  if (choice.protocol == Protocol::simple) return collnet ? 512 : 64;
  const bool ring_ll = choice.algorithm == Algorithm::ring && choice.protocol == Protocol::ll;
  return ring_ll ? std::int64_t{8} * communicator.group.ranks : 8;
}

int power_of_two_up(int value) {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::max(value, 1))));
}

}  // namespace

int channels_used(const Communicator& communicator, const Choice& choice, Bytes bytes) {
  const bool nvls = choice.algorithm == Algorithm::nvls || choice.algorithm == Algorithm::nvls_tree;
  if (nvls) return communicator.graphs.nvls_channels;
  const std::int64_t bytes_of_a_channel =
      threads(communicator, choice) * thread_threshold(communicator, choice);
  const std::int64_t enough = std::max<std::int64_t>(bytes.count() / bytes_of_a_channel, 1);
  return static_cast<int>(std::min<std::int64_t>(enough, communicator.graphs.collective_channels));
}

int point_to_point_channels(const Communicator& communicator, PeerPath path, Bytes bytes) {
  const int most = power_of_two_up(communicator.graphs.collective_channels);
  int channels = 2;
  std::int64_t least_part = 128 * 1024 / 8;
  if (path == PeerPath::nvlink) {
    // Two channels for every NVLink of the path; parts of an eighth of a 512 KiB step.
    channels = 2 * communicator.links.nvlink_count;
    least_part = 512 * 1024 / 8;
  } else if (path == PeerPath::network) {
    constexpr double channel_gb_per_s = 14;
    const double port = std::min(communicator.links.port, communicator.links.pcie);
    channels = std::max(2, static_cast<int>(port / channel_gb_per_s) + 1);
    least_part = 128 * 1024 / 2;
  }
  channels = std::min(power_of_two_up(channels), most);
  while (channels > 1 && bytes.count() / channels < least_part) channels /= 2;
  return channels;
}

}  // namespace stepsim::topology::nccl
