#include "workloads/memory_outside_allocator.hpp"

#include "topology/cluster.hpp"
#include "topology/collective.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace stepsim::workloads {
namespace {

constexpr std::int64_t mib = 1 << 20;

OutsidePart cuda_context() {
  constexpr std::int64_t measured_mib = 563;  // 0.55 GiB
  return {
      "cuda_context",
      Bytes(measured_mib * mib),
      {SourceKind::measured,
       "0.55 GiB on an A100 80 GB with lazily loaded kernels (ml-engineering); 0.47 to 0.92 GiB "
       "are reported"}};
}

// PyTorch keeps one workspace for each pair of cuBLAS handle and stream; backward runs on a thread,
// and so on a handle, of its own.
OutsidePart cublas_workspace(const topology::Device& device) {
  constexpr int handles = 2;
  const std::int64_t each = device.compute_capability >= 90 ? 32 : 8;
  return {"cublas_workspace",
          Bytes(handles * each * mib),
          {SourceKind::assumed,
           "32 MiB a handle and stream on compute capability 9.0 and newer, 8 MiB before; two "
           "handles"}};
}

std::optional<topology::Collective> collective_named(const std::string& name) {
  using topology::Collective;
  for (const Collective each :
       {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
        Collective::broadcast, Collective::all_to_all, Collective::send_receive})
    if (name == topology::to_string(each)) return each;
  return std::nullopt;
}

/// The largest message of each operation of a group: what its buffers are set up for.
std::map<topology::Collective, Bytes> largest_messages(const sim::Job& job,
                                                       const std::string& group) {
  std::map<topology::Collective, Bytes> largest;
  for (const sim::CollectiveSpec& spec : job.collectives) {
    if (spec.group != group) continue;
    if (const auto operation = collective_named(spec.name))
      largest[*operation] = std::max(largest[*operation], spec.bytes);
  }
  return largest;
}

// Buffers of an algorithm are connected when it is first used, once for all operations.
Bytes communicator_bytes(const StepInput& input, const sim::Job& job,
                         const sim::Communicator& communicator) {
  const topology::GroupShape shape = topology::group_shape(input.cluster, communicator.members);
  std::map<std::string, Bytes> by_algorithm;
  for (const auto& [operation, bytes] : largest_messages(job, communicator.group)) {
    const auto prediction = input.collectives.predict(operation, bytes, shape);
    Bytes& known = by_algorithm[prediction.algorithm];
    known = std::max(known, nccl_buffer_bytes(prediction, shape));
  }
  Bytes sum;
  for (const auto& [algorithm, bytes] : by_algorithm) sum += bytes;
  return sum;
}

}  // namespace

Bytes nccl_buffer_bytes(const topology::CollectivePrediction& prediction,
                        const topology::GroupShape& shape) {
  const bool is_nvls = prediction.algorithm.find("nvls") != std::string::npos;
  if (is_nvls) return Bytes(2 * mib) * prediction.channels * shape.ranks_per_node;
  constexpr std::int64_t channel_kib = 9421;  // 9.2 MiB
  const int ends = shape.nodes > 1 ? 2 : 1;
  return Bytes(channel_kib * 1024) * (static_cast<std::int64_t>(prediction.channels) * ends);
}

std::vector<OutsidePart> memory_outside_allocator(const StepInput& input, const sim::Job& job,
                                                  sim::ProgramId program) {
  std::vector<OutsidePart> parts = {cuda_context()};
  const auto rank =
      std::find_if(job.ranks.begin(), job.ranks.end(),
                   [&](const sim::RankSetup& each) { return each.program == program; });
  const std::vector<sim::Slot>& slots = job.programs[program.index()].slots;
  for (std::size_t s = 0; rank != job.ranks.end() && s < slots.size(); ++s) {
    if (slots[s].is_channel) continue;
    const sim::Communicator& communicator = job.communicators[rank->bindings[s]];
    parts.push_back({"nccl_" + slots[s].group,
                     communicator_bytes(input, job, communicator),
                     {SourceKind::assumed,
                      "NCCL's buffer sizes a channel times the channels it opens; 0.3 to 1.5 GiB a "
                      "communicator are reported"}});
  }
  parts.push_back(cublas_workspace(input.cluster.node.device));
  return parts;
}

}  // namespace stepsim::workloads
